package io.orbitkv.manager.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.TicketId;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.catalog.Digest;
import io.orbitkv.manager.control.proto.Offer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The digests in an Offer. */
class OfferDigestTest {
  private final GrantRequest request =
      new GrantRequest(
          new TicketId(7, Epoch.random()),
          Epoch.random(),
          Epoch.random(),
          Stream.of(1, 2, 3).map(i -> BlockName.of("test", new byte[] {i.byteValue()})).toList());
  private final List<GrantOffer.GrantedRange> ranges =
      List.of(
          new GrantOffer.GrantedRange(0, 10, new Digest(-1)),
          new GrantOffer.GrantedRange(1, 20),
          new GrantOffer.GrantedRange(2, 30, new Digest(0)));

  private Offer offer(List<GrantOffer.GrantedRange> granted) {
    GrantId id = new GrantId(1, 1, request.ownerTransport());
    return ControlCodec.encode(new GrantOffer(id, granted, 1, new byte[] {1}), request);
  }

  @Test
  void eachRangeKeepsItsOwnOrNone() {
    assertThat(ControlCodec.offer(offer(ranges), request).ranges()).isEqualTo(ranges);
  }

  @Test
  void anOfferWithoutDigestsIsWhatItWasBeforeThereWereAny() {
    Offer offer = offer(List.of(new GrantOffer.GrantedRange(0, 10)));
    assertThat(offer.getAllFields().keySet())
        .extracting(field -> field.getNumber())
        .containsExactly(1, 2, 3, 4, 5, 6);
  }

  // Guard: ControlCodec.digests. A digest without its range would be checked against another one.
  @Test
  void digestsThatDoNotFitAreRefused() {
    Offer good = offer(ranges);
    assertCorrupt(good.toBuilder().addDigestRange(1).build());
    assertCorrupt(good.toBuilder().addCrc32C(1).build());
    assertCorrupt(good.toBuilder().addDigestRange(3).addCrc32C(1).build());
    assertCorrupt(good.toBuilder().addDigestRange(-1).addCrc32C(1).build());
    assertCorrupt(good.toBuilder().addDigestRange(2).addCrc32C(1).build());
  }

  private void assertCorrupt(Offer offer) {
    assertThatThrownBy(() -> ControlCodec.offer(offer, request))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.code()).isEqualTo(FaultCode.CORRUPT));
  }
}
