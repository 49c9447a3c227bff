package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.tck.reference.Defect;
import io.orbitkv.tck.reference.ReferenceFixture;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The test of the kit: it passes what is right and fails what is wrong in one way. */
class MutantsTest {
  @Test
  void honestReferencePassesEverySuite() {
    TckReport report = TckRun.run(new ReferenceFixture(Set.of()));
    assertThat(report.rows(TckRow.Result.FAILED)).isEmpty();
    assertThat(report.count(TckRow.Result.PASSED)).isGreaterThan(60);
    assertThat(report.rows(TckRow.Result.SKIPPED))
        .allSatisfy(row -> assertThat(row.reason()).startsWith("PACKAGE declined: "));
    assertThat(report.passed()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void mutantIsCaughtByTheSuiteNamedForIt(Defect defect) {
    TckReport report =
        TckRun.run(new ReferenceFixture(Set.of(defect)), List.of(suite(defect)), _ -> {});
    assertThat(report.rows(TckRow.Result.FAILED))
        .as("tests of %s that fail for %s", suite(defect).title(), defect)
        .isNotEmpty();
    assertThat(report.passed()).isFalse();
    report
        .rows(TckRow.Result.FAILED)
        .forEach(
            row -> System.out.println(defect + " caught by " + row.suite() + "." + row.test()));
  }

  private static Suite suite(Defect defect) {
    return switch (defect) {
      case QUIESCE_REOPENS, CLOSE_CANNOT_FAIL -> Suite.LIFECYCLE;
      case RELEASE_CANNOT_FAIL, DEREGISTERS_UNDER_READ, BOUNDS_NOT_CHECKED -> Suite.REGISTRATION;
      case STRIDE_IGNORED, COMPLETION_BEFORE_VISIBILITY -> Suite.TRANSFER;
      case OUTCOME_BEFORE_LAST_PART, CANCEL_LOST, CALLBACK_TWICE -> Suite.TICKET;
      case RECEIPT_TWICE,
          RECEIPT_BEFORE_THREAD_LEFT,
          RECEIPT_ON_TIMEOUT,
          SOURCE_RECEIPT_WHILE_INSIDE ->
          Suite.DRAIN;
      case EPOCH_IGNORED, GRANT_OF_ANY_REQUESTER -> Suite.EPOCH;
      case REVOKE_STILL_ADMITS -> Suite.REVOKE;
      case LATE_WRITE_AFTER_FAILED, CUT_IS_COMPLETED -> Suite.FAULT;
      case THROWS_AND_RUNS -> Suite.CONCURRENCY;
      case BUDGET_NOT_GIVEN_BACK, BUDGET_AFTER_SIDE_EFFECTS -> Suite.BACKPRESSURE;
      case LIMITS_NOT_CHECKED -> Suite.CAPABILITY_TRUTH;
    };
  }
}
