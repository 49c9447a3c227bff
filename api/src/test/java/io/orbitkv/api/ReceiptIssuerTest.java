package io.orbitkv.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ReceiptIssuerTest {
  private final Epoch epoch = Epoch.random();
  private final ReceiptIssuer issuer = issuer(epoch);
  private final TicketId ticket = new TicketId(1, Epoch.random());

  private static ReceiptIssuer issuer(Epoch epoch) {
    return new ReceiptIssuer(
        "test",
        epoch,
        Map.of(
            Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
            Side.SOURCE, Set.of(Evidence.PEER_RECEIPT)));
  }

  private static void assertFault(FaultCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  @Test
  void aReceiptIsMintedOnceAndSpentOnce() {
    issuer.open(ticket);
    DrainReceipt receipt = issuer.issue(ticket, Evidence.LOCAL_QUIESCED);
    assertFault(FaultCode.INVALID, () -> issuer.issue(ticket, Evidence.LOCAL_QUIESCED));
    issuer.spend(receipt, ticket);
    assertFault(FaultCode.QUARANTINED, () -> issuer.spend(receipt, ticket));
    assertFault(FaultCode.NOT_FOUND, () -> issuer.issue(ticket, Evidence.LOCAL_QUIESCED));
    assertThat(issuer.openSubjects()).isZero();
  }

  @Test
  void aReceiptSpeaksForItsOwnSubject() {
    TicketId other = new TicketId(2, ticket.epoch());
    issuer.open(ticket);
    issuer.open(other);
    DrainReceipt receipt = issuer.issue(ticket, Evidence.LOCAL_QUIESCED);
    assertFault(FaultCode.QUARANTINED, () -> issuer.spend(receipt, other));
    issuer.spend(receipt, ticket);
  }

  @Test
  void aReceiptOfAnotherIncarnationProvesNothing() {
    ReceiptIssuer later = issuer(Epoch.random());
    issuer.open(ticket);
    later.open(ticket);
    DrainReceipt old = issuer.issue(ticket, Evidence.LOCAL_QUIESCED);
    assertFault(FaultCode.QUARANTINED, () -> later.spend(old, ticket));
  }

  @Test
  void undeclaredEvidenceIsRefusedPerSide() {
    GrantId grant = new GrantId(1, 1, epoch);
    issuer.open(ticket);
    issuer.open(grant);
    assertFault(FaultCode.UNSUPPORTED, () -> issuer.issue(ticket, Evidence.PEER_RECEIPT));
    assertFault(FaultCode.UNSUPPORTED, () -> issuer.issue(grant, Evidence.LOCAL_QUIESCED));
    assertThat(issuer.issue(grant, Evidence.PEER_RECEIPT).subject().side()).isEqualTo(Side.SOURCE);
  }

  @Test
  void aSubjectIsOpenedOnceAndAGrantInItsOwnEpoch() {
    issuer.open(ticket);
    assertFault(FaultCode.IN_USE, () -> issuer.open(ticket));
    assertFault(FaultCode.STALE_EPOCH, () -> issuer.open(new GrantId(1, 1, Epoch.random())));
    assertFault(
        FaultCode.NOT_FOUND,
        () -> issuer.issue(new TicketId(9, ticket.epoch()), Evidence.LOCAL_QUIESCED));
  }
}
