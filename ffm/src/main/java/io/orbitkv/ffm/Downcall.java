package io.orbitkv.ffm;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.Optional;

/** Binds libc symbols. A missing symbol becomes a handle that throws when called, never earlier. */
final class Downcall {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final MethodHandle MISSING = missingFactory();

  private Downcall() {}

  /** A call that may block; its first parameter is the capture segment of {@link CallState}. */
  static MethodHandle bind(String symbol, MemoryLayout result, MemoryLayout... parameters) {
    return bind(symbol, FunctionDescriptor.of(result, parameters), ERRNO);
  }

  /**
   * A call that never blocks. It runs without a thread state transition, so a call that did block
   * would stop every safepoint of the JVM.
   */
  static MethodHandle bindCritical(String symbol, MemoryLayout result, MemoryLayout... parameters) {
    return bind(
        symbol, FunctionDescriptor.of(result, parameters), ERRNO, Linker.Option.critical(false));
  }

  /** A variadic call that may block; {@code fixed} parameters come before the variadic ones. */
  static MethodHandle bindVariadic(
      String symbol, int fixed, MemoryLayout result, MemoryLayout... parameters) {
    return bind(
        symbol,
        FunctionDescriptor.of(result, parameters),
        ERRNO,
        Linker.Option.firstVariadicArg(fixed));
  }

  /** What a downcall handle threw: ours are unchecked; a checked one can not happen. */
  static RuntimeException rethrow(Throwable thrown) {
    return switch (thrown) {
      case RuntimeException unchecked -> unchecked;
      case Error error -> throw error;
      default -> new IllegalStateException("a downcall threw a checked exception", thrown);
    };
  }

  @SuppressWarnings("restricted") // the one place that makes downcall handles
  private static MethodHandle bind(
      String symbol, FunctionDescriptor shape, Linker.Option... options) {
    Optional<MemorySegment> address = LINKER.defaultLookup().find(symbol);
    if (address.isPresent()) {
      return LINKER.downcallHandle(address.get(), shape, options);
    }
    MethodType type = LINKER.downcallHandle(shape, options).type().dropParameterTypes(0, 1);
    MethodHandle thrower =
        MethodHandles.collectArguments(
            MethodHandles.throwException(type.returnType(), UnsupportedOperationException.class),
            0,
            MISSING.bindTo(symbol));
    return MethodHandles.dropArguments(thrower, 0, Arrays.asList(type.parameterArray()));
  }

  static UnsupportedOperationException missing(String symbol) {
    return new UnsupportedOperationException(
        "libc has no symbol " + symbol + "; run on Linux with glibc 2.28 or newer");
  }

  private static MethodHandle missingFactory() {
    try {
      return MethodHandles.lookup()
          .findStatic(
              Downcall.class,
              "missing",
              MethodType.methodType(UnsupportedOperationException.class, String.class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("Downcall.missing is gone", e);
    }
  }
}
