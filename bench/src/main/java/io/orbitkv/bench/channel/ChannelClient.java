package io.orbitkv.bench.channel;

import java.util.Locale;

/** What is measured: who sends a request and waits for its answer. */
public enum ChannelClient {
  /** The Java client of a Manager. */
  JAVA,
  /** The Python client of a Manager. */
  PYTHON,
  /** Two processes in C on eventfds, over shared memory: what the others are compared with. */
  C_EVENTFD,
  /** One gRPC call for each round trip, over TCP. */
  GRPC_UNARY,
  /** One long-lived gRPC stream, over TCP. */
  GRPC_STREAM,
  /** A blocking Unix socket, in Java. */
  UNIX_SOCKET,
  /** iceoryx2, both sides blocking on its listeners. */
  ICEORYX2_EVENT,
  /** iceoryx2, both sides polling. */
  ICEORYX2_SPIN;

  /** Whether it speaks with a Manager. */
  public boolean usesManager() {
    return this == JAVA || this == PYTHON;
  }

  /** Whether it can be measured so; who only polls gets on by preemption alone on one core. */
  boolean allows(Placement placement) {
    return this != ICEORYX2_SPIN || placement == Placement.TWO_CORES;
  }

  /** Its name in options and results. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
