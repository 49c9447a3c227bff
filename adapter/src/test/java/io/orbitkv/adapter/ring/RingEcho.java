package io.orbitkv.adapter.ring;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.api.Epoch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Answers every request with its own descriptor: {@code FILE COUNT}, a process of its own. */
final class RingEcho {
  private RingEcho() {}

  public static void main(String[] arguments) throws IOException {
    try (FileChannel file =
            FileChannel.open(
                Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE);
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, RingLayout.BYTES, arena);
      echo(memory, Long.parseLong(arguments[1]));
    }
  }

  static void echo(MemorySegment memory, long count) {
    RingWait wait = new RingWait();
    RingConsumer requests = new RingConsumer(memory, RingLayout.REQUESTS);
    RingProducer answers = new RingProducer(memory, RingLayout.ANSWERS, new Epoch(1, 2));
    for (long done = 0; done < count; done++) {
      Taken taken = requests.take();
      while (taken == null) {
        boolean _ = wait.poll(requests::ready);
        taken = requests.take();
      }
      long id = taken.command().requestId();
      while (!answers.offer(Opcode.PONG, id, taken.command().scalar0(), 0, taken.descriptor())) {
        boolean _ = wait.poll(() -> false);
      }
    }
  }
}
