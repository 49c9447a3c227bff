package io.orbitkv.bench.channel;

import java.io.IOException;

/** One way to send 64 bytes and wait for 64. Used by one thread. */
interface Exchange extends AutoCloseable {
  /** Bytes in each direction, where they are not a command of the channel, which has as many. */
  int MESSAGE_BYTES = 64;

  /** One round trip. */
  void exchange() throws IOException;

  @Override
  void close() throws IOException;
}
