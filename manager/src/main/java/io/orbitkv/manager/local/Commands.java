package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Frame;
import io.orbitkv.adapter.wire.FrameKind;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.adapter.wire.Text;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decodes and starts the commands of one session. Runs on its reader thread. */
final class Commands {
  private static final Logger LOG = LoggerFactory.getLogger(Commands.class);
  private static final long MAX_DEADLINE_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final byte[] NO_DESCRIPTOR = {};
  private static final long FETCH = 1;
  private static final long PREFIX = 2;
  private static final long DIGEST = 1;

  private final LocalSession session;
  private final LocalContext context;
  private final Sessions sessions;

  Commands(LocalSession session, LocalContext context, Sessions sessions) {
    this.session = session;
    this.context = context;
    this.sessions = sessions;
  }

  /** Answers, now or later; throws only if the frame holds no command. */
  void accept(Frame frame) {
    Command command = Command.decode(frame.body());
    long id = frame.header().requestId();
    if (id == 0 || command.requestId() != id) {
      throw new TransportException(
          FaultCode.INVALID,
          "command " + command.requestId() + " in frame " + id + "; both must be one, and not 0");
    }
    try {
      start(command, frame.body().asSlice(Command.BYTES));
    } catch (TransportException e) {
      refuse(id, e);
    } catch (RuntimeException e) {
      LOG.error("session {}: command {} failed", session.slot(), command.opcode(), e);
      refuse(id, new TransportException(FaultCode.INTERNAL, "Manager failed: " + e));
    }
  }

  private void start(Command command, MemorySegment arena) {
    if (command.version() != Command.VERSION) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "command of protocol version "
              + command.version()
              + "; this Manager speaks "
              + Command.VERSION);
    }
    if (!command.epoch().equals(context.epoch())) {
      throw new TransportException(
          FaultCode.STALE_EPOCH,
          "command names Manager epoch " + command.epoch() + "; connect again");
    }
    Opcode opcode = Opcode.ofWire(command.opcode());
    switch (opcode) {
      case QUERY -> query(command, command.descriptor("query", arena));
      case RELEASE -> release(command);
      case PUBLISH -> publish(command, command.descriptor("publish", arena));
      case null, default ->
          throw new TransportException(
              FaultCode.UNSUPPORTED,
              "opcode " + command.opcode() + " is not served; use one of this version");
    }
  }

  private void query(Command command, Cursor descriptor) {
    long deadline = command.scalar0();
    if (deadline < 1 || deadline > MAX_DEADLINE_NANOS) {
      throw descriptor.refused("deadline of " + deadline + " ns; allowed are 1 ns to 1 hour");
    }
    if ((command.scalar1() & ~(FETCH | PREFIX)) != 0) {
      throw descriptor.refused("flags " + command.scalar1() + "; bits 0 and 1 are known");
    }
    long bytes = descriptor.remaining();
    List<BlockName> names = Names.decode(descriptor);
    BlockService.ReadOptions options =
        new BlockService.ReadOptions(
            (command.scalar1() & FETCH) != 0,
            (command.scalar1() & PREFIX) != 0,
            System.nanoTime() + deadline);
    new QueryOperation(session, context, command.requestId(), bytes).start(names, options);
  }

  private void release(Command command) {
    long holder = command.scalar1() == 0 ? session.token() : command.scalar1();
    LocalSession holding = sessions.ofProcess(session.process(), holder);
    if (holding == null) {
      throw new TransportException(
          FaultCode.NOT_FOUND, "release: the session that holds the lease is not of this process");
    }
    holding.release(command.scalar0());
    answer(command.requestId(), Opcode.RELEASE_ANSWER, command.scalar0(), NO_DESCRIPTOR);
  }

  private void publish(Command command, Cursor descriptor) {
    long bytes = descriptor.remaining();
    List<PublishEntry> entries = PublishEntry.decode(descriptor);
    long charge = Math.max(bytes, PublishOperation.answerBytes(entries.size()));
    session.admit(SessionWork.Kind.PUBLISH, charge);
    PublishOperation operation =
        new PublishOperation(
            session,
            context,
            command.requestId(),
            charge,
            entries,
            (command.scalar0() & DIGEST) != 0);
    try {
      context.copies().execute(operation);
    } catch (RejectedExecutionException e) {
      session.settle(SessionWork.Kind.PUBLISH, charge);
      throw new TransportException(
          FaultCode.CLOSING, "publish: the Manager is stopping; publish to the next one", e);
    }
  }

  private void answer(long requestId, Opcode opcode, long scalar0, byte[] descriptor) {
    Command answer = Command.of(opcode, requestId, context.epoch(), descriptor.length, scalar0, 0);
    session.writer().answer(FrameKind.ANSWER, requestId, answer.withDescriptor(descriptor), null);
  }

  private void refuse(long requestId, TransportException fault) {
    context.countRefusal(fault);
    session.writer().answer(FrameKind.ANSWER, requestId, refusal(context, requestId, fault), null);
  }

  /** The answer that refuses a whole command. */
  static MemorySegment refusal(LocalContext context, long requestId, TransportException fault) {
    String text = fault.getMessage() == null ? fault.code().toString() : fault.getMessage();
    byte[] descriptor = Text.cut(text, Text.REFUSAL_BYTES);
    return Command.of(
            Opcode.REFUSAL, requestId, context.epoch(), descriptor.length, fault.code().wire(), 0)
        .withDescriptor(descriptor);
  }
}
