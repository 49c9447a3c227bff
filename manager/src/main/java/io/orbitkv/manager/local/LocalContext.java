package io.orbitkv.manager.local;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.plan.Instances;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What the sessions of one server share.
 *
 * @param service answers for the blocks
 * @param epoch of this Manager
 * @param instances the engine instances and their plans
 * @param limits what is admitted
 * @param copies runs the copies of published blocks
 * @param queries places for queries that are not answered yet
 * @param generations of registrations
 * @param bodies memory for long frames
 * @param descriptors memory for long descriptors of commands
 * @param refusals how many requests and connections a limit has refused
 */
record LocalContext(
    BlockService service,
    Epoch epoch,
    Instances instances,
    LocalLimits limits,
    Executor copies,
    Semaphore queries,
    AtomicLong generations,
    BodyBudget bodies,
    DescriptorRoom descriptors,
    LongAdder refusals) {
  /** Counts a refusal by a limit. */
  void countRefusal(TransportException fault) {
    if (fault.code() == FaultCode.EXHAUSTED) {
      refusals.increment();
    }
  }

  /** Takes a place for a query, or refuses. */
  void admitQuery() {
    if (!queries.tryAcquire()) {
      throw new TransportException(
          FaultCode.EXHAUSTED,
          "query: "
              + limits.queries()
              + " of all sessions are pending; ask again later, or raise --queries");
    }
  }
}
