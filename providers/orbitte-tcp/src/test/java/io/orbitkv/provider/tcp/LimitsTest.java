package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Capabilities;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Permission;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.RemoteRegion;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.Transport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The limits of one transport: refused by their code, before anything was counted or sent. */
class LimitsTest {
  private static void assertRefused(FaultCode code, String limit, ThrowingCallable call) {
    assertThatThrownBy(call)
        .hasMessageContaining(limit)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  // Guard: RegionTable.LIMIT.
  @Test
  void regionsOfATransportAreLimited() {
    try (Host host = Host.open()) {
      List<Registration> registrations = new ArrayList<>();
      for (int i = 0; i < 4_096; i++) {
        registrations.add(host.transport.register(host.region(8, Permission.READ)));
      }
      Region more = host.region(8, Permission.READ);
      assertRefused(FaultCode.EXHAUSTED, "4096", () -> host.transport.register(more));
      registrations.removeLast().close();
      registrations.add(host.transport.register(more));
      registrations.forEach(Registration::close);
    }
  }

  // Guard: TcpTransport.MAX_PEERS.
  @Test
  void peersOfATransportAreLimited() {
    try (Host host = Host.open();
        Host owner = Host.open()) {
      List<Peer> peers = new ArrayList<>();
      for (int i = 0; i < 1_024; i++) {
        peers.add(host.connect(owner));
      }
      assertRefused(FaultCode.EXHAUSTED, "1024", () -> host.connect(owner));
      peers.removeLast().close();
      peers.add(host.connect(owner));
      peers.forEach(Peer::close);
    }
  }

  // Guard: TcpTransport.checkLimits, in front of the budget.
  @Test
  void piecesAndBytesOfAReadAreLimited() {
    try (Host owner = Host.open();
        Host requester = Host.open()) {
      Region source = owner.registered(4_096);
      Region target = requester.registered(4_096);
      Peer peer = requester.connect(owner);
      RemoteRegion imported = peer.importRegion(owner.admitWhole(requester, source).wireForm());
      Capabilities capabilities = requester.transport.capabilities();
      assertThat(capabilities.maxDescriptors()).isEqualTo(16_384);
      Batch.Builder builder = Batch.from(imported);
      for (int i = 0; i <= capabilities.maxDescriptors(); i++) {
        builder.add(Descriptor.of(target.id(), 0, 1), RemoteDescriptor.of(0, 0, 1));
      }
      Batch many = builder.build();
      TicketId id = requester.ticketId();
      assertRefused(
          FaultCode.INVALID, "16384 pieces", () -> peer.read(many, id, Peer.TicketOptions.NONE));
      assertThat(requester.context.places).hasValue(0);
      assertThat(requester.context.meter("requests")).isZero();
      requester.context.receipts().spend(requester.context.receipts().neverSubmitted(id), id);
      peer.close();
    }
  }

  // Guard: Wire.MAX_RANGES in TcpTransport.admit.
  @Test
  void rangesOfAGrantAreLimited() {
    try (Host owner = Host.open()) {
      Descriptor range = Descriptor.of(owner.registered(4_096).id(), 0, 1);
      var grant = owner.grant(1, 1);
      owner.context.receipts().open(grant);
      Transport.Admission admission =
          new Transport.Admission(
              grant, owner.transport.epoch(), Collections.nCopies(Wire.MAX_RANGES + 1, range));
      assertRefused(
          FaultCode.INVALID,
          String.valueOf(Wire.MAX_RANGES),
          () -> owner.transport.admit(admission));
      assertThat(owner.context.meter("source_holds")).isZero();
      owner.context.receipts().spend(owner.context.receipts().neverSubmitted(grant), grant);
    }
  }
}
