package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** What the suites share: the pair of engines of one test, and the end of it. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = ThreadMode.SEPARATE_THREAD)
public abstract class ProviderTck {
  /** How long the kit looks for bytes that come late. */
  static final long WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

  private @Nullable EnginePair pair;

  /** For subclasses. */
  protected ProviderTck() {}

  /** The provider under test; asked once or more often in each test. */
  protected abstract ProviderFixture fixture();

  /** The pair of this test, opened by the first call. */
  protected final EnginePair pair() {
    return pair(EnginePair.BUDGET);
  }

  /** The pair of this test; the first call says how many batches the requester may have. */
  protected final EnginePair pair(int budget) {
    EnginePair opened = pair;
    if (opened == null) {
      opened = EnginePair.open(fixture(), budget);
      pair = opened;
    }
    return opened;
  }

  /** Skips the test if the fixture declined this, with its reason. */
  protected final void needs(Behaviour behaviour) {
    String reason = fixture().declined().get(behaviour);
    if (reason != null) {
      throw new DeclinedException(behaviour + " declined: " + reason);
    }
  }

  /** Whether the fixture declined this. */
  final boolean declines(Behaviour behaviour) {
    return fixture().declined().containsKey(behaviour);
  }

  /** Fails unless the call throws with this code. */
  static void assertRefused(FaultCode code, ThrowingCallable call) {
    Assertions.assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class,
            refusal -> {
              assertThat(refusal.code()).as("%s", refusal.getMessage()).isEqualTo(code);
              assertThat(refusal.getMessage()).as("the message").isNotBlank().doesNotContain("\n");
            });
  }

  /** Ends the pair; fails if something is left of it. */
  @AfterEach
  void endPair() {
    EnginePair opened = pair;
    if (opened != null) {
      opened.close();
    }
  }
}
