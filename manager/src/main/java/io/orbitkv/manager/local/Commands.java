package io.orbitkv.manager.local;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.adapter.ring.RingConsumer.Taken;
import io.orbitkv.adapter.wire.Command;
import io.orbitkv.adapter.wire.Cursor;
import io.orbitkv.adapter.wire.Names;
import io.orbitkv.adapter.wire.Opcode;
import io.orbitkv.adapter.wire.PublishEntry;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decodes and starts the commands of one session. Runs on the thread of its ring. */
final class Commands {
  private static final Logger LOG = LoggerFactory.getLogger(Commands.class);
  private static final long MAX_DEADLINE_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final long DIGEST = 1;

  private final LocalSession session;
  private final LocalContext context;
  private final Sessions sessions;

  Commands(LocalSession session, LocalContext context, Sessions sessions) {
    this.session = session;
    this.context = context;
    this.sessions = sessions;
  }

  /** Answers, now or later. */
  void accept(Taken taken) {
    Command command = taken.command();
    long id = command.requestId();
    try {
      start(command, taken.descriptor());
    } catch (TransportException e) {
      refuse(id, e);
    } catch (RuntimeException e) {
      LOG.error("session {}: command {} failed", session.slot(), command.opcode(), e);
      refuse(id, new TransportException(FaultCode.INTERNAL, "Manager failed: " + e));
    }
  }

  private void start(Command command, MemorySegment descriptor) {
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
    if (command.requestId() == 0) {
      throw new TransportException(FaultCode.INVALID, "command with request id 0; use another");
    }
    Opcode opcode = Opcode.ofWire(command.opcode());
    switch (opcode) {
      case PING -> session.ring().answer(Answer.of(Opcode.PONG, command.requestId(), 0));
      case QUERY -> query(command, new Cursor("query", descriptor));
      case RELEASE -> release(command);
      case PUBLISH -> publish(command, new Cursor("publish", descriptor));
      case RESTORE -> session.plans().restore(command, new Cursor("restore", descriptor));
      case POLL -> session.plans().poll(command);
      case CANCEL -> session.plans().cancel(command);
      case CANCEL_PLAN -> session.plans().cancelPlan(command);
      case RESTORE_ENDED -> session.plans().observe(command, Opcode.RESTORE_ENDED_ANSWER);
      case OBSERVE -> session.plans().observe(command, Opcode.OBSERVE_ANSWER);
      case REVISE -> session.plans().revise(command, new Cursor("revise", descriptor));
      case null, default ->
          throw new TransportException(
              FaultCode.UNSUPPORTED,
              "opcode " + command.opcode() + " is not served; use one of this version");
    }
  }

  private void query(Command command, Cursor descriptor) {
    long deadline = deadline(descriptor, command.scalar0());
    QueryWish wish = QueryWish.of(command.scalar1());
    long bytes = descriptor.remaining();
    List<BlockName> names = Names.decode(descriptor);
    new QueryOperation(session, context, command.requestId(), bytes, wish, deadline).start(names);
  }

  /** A deadline of {@link System#nanoTime()}, from one that is told as ns from now. */
  static long deadline(Cursor descriptor, long nanos) {
    if (nanos < 1 || nanos > MAX_DEADLINE_NANOS) {
      throw descriptor.refused("deadline of " + nanos + " ns; allowed are 1 ns to 1 hour");
    }
    return System.nanoTime() + nanos;
  }

  private void release(Command command) {
    boolean own = command.scalar1() == 0 || command.scalar1() == session.token();
    LocalSession holding = own ? session : sessions.ofProcess(session.process(), command.scalar1());
    if (holding == null) {
      throw new TransportException(
          FaultCode.NOT_FOUND, "release: the session that holds the lease is not of this process");
    }
    holding.release(command.scalar0());
    session.ring().answer(Answer.of(Opcode.RELEASE_ANSWER, command.requestId(), command.scalar0()));
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

  private void refuse(long requestId, TransportException fault) {
    context.countRefusal(fault);
    session.ring().answer(Answer.refusal(requestId, fault));
  }
}
