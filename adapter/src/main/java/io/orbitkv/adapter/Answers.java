package io.orbitkv.adapter;

import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishStatus;
import io.orbitkv.adapter.wire.ReadEntry;
import io.orbitkv.adapter.wire.SharedMapping;
import io.orbitkv.adapter.wire.Text;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Reads the Manager's answers to commands, every number checked against what was asked. */
final class Answers {
  private Answers() {}

  static List<PublishResult> published(Taken answer, List<Piece> asked) {
    var _ = expect(answer, Opcode.PUBLISH_ANSWER);
    List<PublishStatus> statuses =
        PublishStatus.decode(new Cursor("publish answer", answer.descriptor()));
    if (statuses.size() != asked.size()) {
      throw corrupt(statuses.size() + " results for " + asked.size() + " blocks");
    }
    List<PublishResult> results = new ArrayList<>(statuses.size());
    for (int i = 0; i < statuses.size(); i++) {
      PublishStatus status = statuses.get(i);
      BlockName name = asked.get(i).name();
      results.add(
          switch (status.status()) {
            case PublishStatus.STORED ->
                new PublishResult(name, PublishResult.Status.STORED, null, null);
            case PublishStatus.PRESENT ->
                new PublishResult(name, PublishResult.Status.PRESENT, null, null);
            default ->
                new PublishResult(name, PublishResult.Status.FAULT, status.code(), status.text());
          });
    }
    return results;
  }

  static BlockLease found(
      Taken answer,
      List<BlockName> asked,
      List<SharedMapping> arenas,
      Consumer<BlockLease> release) {
    Command command = expect(answer, Opcode.QUERY_ANSWER);
    List<LeasedBlock> blocks = new ArrayList<>();
    List<BlockLease.Place> places = new ArrayList<>();
    for (ReadEntry entry : ReadEntry.decode(new Cursor("query answer", answer.descriptor()))) {
      check(entry, asked, arenas);
      int index = (int) entry.index();
      Origin origin = entry.origin() == ReadEntry.ORIGIN_PEER ? Origin.PEER : Origin.LOCAL;
      blocks.add(new LeasedBlock(index, asked.get(index), origin, entry.bytes()));
      places.add(
          new BlockLease.Place(
              arenas.get((int) entry.arena()), entry.offset(), entry.generation()));
    }
    long expires = System.nanoTime() + Math.max(0, command.scalar1());
    return new BlockLease(command.scalar0(), expires, blocks, places, release);
  }

  /** The exception behind a stage of a future. */
  static Throwable cause(Throwable fault) {
    return fault instanceof CompletionException && fault.getCause() != null
        ? fault.getCause()
        : fault;
  }

  /** The answer, unless the Manager has refused the command; throws the refusal then. */
  static Taken unlessRefused(Taken answer) {
    Command command = answer.command();
    if (command.opcode() == Opcode.REFUSAL.wire()) {
      Cursor text = new Cursor("refusal", answer.descriptor());
      int length = (int) Math.min(text.remaining(), Text.REFUSAL_BYTES);
      throw new TransportException(FaultCode.ofWire((int) command.scalar0()), text.text(length));
    }
    return answer;
  }

  /** The command of an answer of that kind. */
  static Command expect(Taken answer, Opcode opcode) {
    Command command = answer.command();
    if (command.version() != Command.VERSION || command.opcode() != opcode.wire()) {
      throw corrupt("opcode " + command.opcode() + " of version " + command.version());
    }
    return command;
  }

  private static void check(ReadEntry entry, List<BlockName> asked, List<SharedMapping> arenas) {
    if (entry.index() >= asked.size() || entry.arena() >= arenas.size()) {
      throw corrupt("block " + entry.index() + " in arena " + entry.arena());
    }
    long room = arenas.get((int) entry.arena()).bytes();
    if (entry.offset() < 0
        || entry.bytes() < 1
        || entry.offset() > room
        || entry.bytes() > room - entry.offset()) {
      throw corrupt("block " + entry.index() + " outside of its arena");
    }
  }

  private static TransportException corrupt(String what) {
    return new TransportException(
        FaultCode.CORRUPT, "Manager's answer: " + what + "; both sides must be of one release");
  }
}
