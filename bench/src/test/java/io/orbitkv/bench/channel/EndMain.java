package io.orbitkv.bench.channel;

import java.io.IOException;
import java.io.PrintStream;

/** A process that is one end, as the command starts them. */
final class EndMain {
  private EndMain() {}

  public static void main(String[] kindAndAddress) throws IOException {
    PrintStream answers = System.out;
    // Libraries that log to standard output would speak in between.
    System.setOut(System.err);
    ChannelEnd.run(kindAndAddress[0], kindAndAddress[1], System.in, answers);
  }
}
