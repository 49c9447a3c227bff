package io.orbitkv.manager.control;

import com.google.protobuf.ByteString;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.control.proto.Grant;
import io.orbitkv.manager.control.proto.NameRun;
import io.orbitkv.manager.control.proto.Ticket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The small values of the control protocol. What does not decode is INVALID. */
final class WireValues {
  private WireValues() {}

  static ByteString encode(Epoch epoch) {
    ByteBuffer bytes = ByteBuffer.allocate(Epoch.BYTES);
    epoch.write(bytes);
    return ByteString.copyFrom(bytes.flip());
  }

  static Epoch epoch(ByteString bytes, String what) {
    if (bytes.size() != Epoch.BYTES) {
      throw invalid(what + " has " + bytes.size() + " bytes, an epoch has " + Epoch.BYTES);
    }
    return Epoch.read(bytes.asReadOnlyByteBuffer());
  }

  static Ticket encode(TicketId ticket) {
    return Ticket.newBuilder().setId(ticket.id()).setManagerEpoch(encode(ticket.epoch())).build();
  }

  static TicketId ticket(Ticket ticket) {
    return new TicketId(ticket.getId(), epoch(ticket.getManagerEpoch(), "manager_epoch of ticket"));
  }

  static Grant encode(GrantId grant) {
    return Grant.newBuilder()
        .setId(grant.id())
        .setGeneration(grant.generation())
        .setTransportEpoch(encode(grant.epoch()))
        .build();
  }

  static GrantId grant(Grant grant) {
    return new GrantId(
        grant.getId(),
        grant.getGeneration(),
        epoch(grant.getTransportEpoch(), "transport_epoch of grant"));
  }

  static List<NameRun> encode(List<BlockName> names, int limit) {
    if (names.size() > limit) {
      throw tooManyNames(names.size(), limit);
    }
    List<NameRun> runs = new ArrayList<>();
    NameRun.Builder run = NameRun.newBuilder();
    for (BlockName name : names) {
      if (run.getHashesCount() > 0 && !run.getNamespace().equals(name.namespace())) {
        runs.add(run.build());
        run = NameRun.newBuilder();
      }
      run.setNamespace(name.namespace()).addHashes(ByteString.copyFrom(name.hash()));
    }
    if (run.getHashesCount() > 0) {
      runs.add(run.build());
    }
    return runs;
  }

  /** In their order, each once. */
  static List<BlockName> names(List<NameRun> runs, int limit) {
    long count = runs.stream().mapToLong(NameRun::getHashesCount).sum();
    if (count > limit) {
      throw tooManyNames(count, limit);
    }
    Set<BlockName> names = new LinkedHashSet<>();
    for (NameRun run : runs) {
      for (ByteString hash : run.getHashesList()) {
        if (!names.add(name(run.getNamespace(), hash))) {
          throw invalid("name " + names.size() + " of the request is in it before; name each once");
        }
      }
    }
    return List.copyOf(names);
  }

  private static BlockName name(String namespace, ByteString hash) {
    try {
      return BlockName.of(namespace, hash.toByteArray());
    } catch (IllegalArgumentException e) {
      throw invalid(String.valueOf(e.getMessage()));
    }
  }

  /** Checks the length of a text that a peer sent, and that it fits on a line. */
  static String text(String text, String what) {
    if (text.length() > ControlLimits.MAX_TEXT) {
      throw invalid(
          what + " has " + text.length() + " characters; the limit is " + ControlLimits.MAX_TEXT);
    }
    return printable(text);
  }

  /** One bounded line, whatever the text was. */
  static String printable(String text) {
    String line =
        text.length() <= ControlLimits.MAX_TEXT ? text : text.substring(0, ControlLimits.MAX_TEXT);
    return line.chars().anyMatch(Character::isISOControl)
        ? line.replaceAll("\\p{Cntrl}+", " ")
        : line;
  }

  static TransportException invalid(String message) {
    return new TransportException(FaultCode.INVALID, message);
  }

  private static TransportException tooManyNames(long count, int limit) {
    return invalid(count + " names in one request; ask for at most " + limit + " at once");
  }
}
