package io.orbitkv.manager.control;

import com.google.protobuf.ByteString;
import io.orbitkv.adapter.BlockName;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.catalog.Digest;
import io.orbitkv.manager.control.proto.Authorize;
import io.orbitkv.manager.control.proto.Complete;
import io.orbitkv.manager.control.proto.Hello;
import io.orbitkv.manager.control.proto.Locate;
import io.orbitkv.manager.control.proto.Located;
import io.orbitkv.manager.control.proto.Offer;
import io.orbitkv.manager.control.proto.Refusal;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Messages of the control protocol, to and from values. Decoding checks every bound and throws
 * INVALID, or CORRUPT where an answer does not fit its question.
 */
final class ControlCodec {
  private ControlCodec() {}

  static Hello encode(PeerHello hello) {
    if (hello.peerBytes().length > ControlLimits.MAX_PEER_BYTES) {
      throw peerBytesTooLong(hello.peerBytes().length);
    }
    return Hello.newBuilder()
        .setControlVersion(ControlLimits.VERSION)
        .setManagerEpoch(WireValues.encode(hello.managerEpoch()))
        .setManagerName(hello.managerName())
        .setControlAddress(hello.controlAddress())
        .setProvider(hello.provider())
        .setTransportEpoch(WireValues.encode(hello.transportEpoch()))
        .setEndpoint(hello.endpoint().toString())
        .setPeerBytes(ByteString.copyFrom(hello.peerBytes()))
        .build();
  }

  /** Checks the version first: nothing else is understood if that differs. */
  static PeerHello hello(Hello hello, PeerHello own) {
    String name = WireValues.printable(hello.getManagerName());
    if (hello.getControlVersion() != ControlLimits.VERSION) {
      throw new TransportException(
          FaultCode.UNSUPPORTED,
          "Manager %s speaks version %s of the control protocol, Manager %s speaks version %d: run the same release on both"
              .formatted(
                  name,
                  Integer.toUnsignedString(hello.getControlVersion()),
                  own.managerName(),
                  ControlLimits.VERSION));
    }
    if (hello.getPeerBytes().size() > ControlLimits.MAX_PEER_BYTES) {
      throw peerBytesTooLong(hello.getPeerBytes().size());
    }
    URI endpoint;
    try {
      endpoint = URI.create(WireValues.text(hello.getEndpoint(), "endpoint"));
    } catch (IllegalArgumentException e) {
      throw WireValues.invalid("endpoint of Manager " + name + " is no URI: " + e.getMessage());
    }
    return new PeerHello(
        WireValues.epoch(hello.getManagerEpoch(), "manager_epoch"),
        WireValues.text(hello.getManagerName(), "manager_name"),
        WireValues.text(hello.getControlAddress(), "control_address"),
        WireValues.text(hello.getProvider(), "provider"),
        WireValues.epoch(hello.getTransportEpoch(), "transport_epoch"),
        endpoint,
        hello.getPeerBytes().toByteArray());
  }

  static Locate locate(List<BlockName> names) {
    return Locate.newBuilder()
        .addAllNames(WireValues.encode(names, ControlLimits.MAX_NAMES))
        .build();
  }

  static Authorize encode(GrantRequest request) {
    return Authorize.newBuilder()
        .setTicket(WireValues.encode(request.ticket()))
        .setRequesterTransport(WireValues.encode(request.requesterTransport()))
        .setOwnerTransport(WireValues.encode(request.ownerTransport()))
        .addAllNames(WireValues.encode(request.names(), ControlLimits.MAX_GRANT_NAMES))
        .build();
  }

  static GrantRequest request(Authorize authorize) {
    return new GrantRequest(
        WireValues.ticket(authorize.getTicket()),
        WireValues.epoch(authorize.getRequesterTransport(), "requester_transport"),
        WireValues.epoch(authorize.getOwnerTransport(), "owner_transport"),
        WireValues.names(authorize.getNamesList(), ControlLimits.MAX_GRANT_NAMES));
  }

  static Offer encode(GrantOffer offer, GrantRequest request) {
    if (offer.wireForm().length > ControlLimits.MAX_WIRE_FORM_BYTES) {
      throw new TransportException(
          FaultCode.INTERNAL,
          "the provider's form of this grant has %d bytes; the limit is %d: ask for fewer blocks"
              .formatted(offer.wireForm().length, ControlLimits.MAX_WIRE_FORM_BYTES));
    }
    Offer.Builder wire =
        Offer.newBuilder()
            .setTicket(WireValues.encode(request.ticket()))
            .setGrant(WireValues.encode(offer.grant()))
            .setLifetimeNanos(offer.lifetimeNanos())
            .setWireForm(ByteString.copyFrom(offer.wireForm()));
    for (int i = 0; i < offer.ranges().size(); i++) {
      GrantOffer.GrantedRange range = offer.ranges().get(i);
      wire.addNameIndex(range.nameIndex()).addRangeBytes(range.bytes());
      if (range.digest() != null) {
        wire.addDigestRange(i).addCrc32C(range.digest().crc32c());
      }
    }
    return wire.build();
  }

  static GrantOffer offer(Offer offer, GrantRequest request) {
    int count = offer.getNameIndexCount();
    if (count != offer.getRangeBytesCount()
        || count > request.names().size()
        || offer.getWireForm().size() > ControlLimits.MAX_WIRE_FORM_BYTES
        || offer.getLifetimeNanos() < 0
        || !WireValues.ticket(offer.getTicket()).equals(request.ticket())) {
      throw corrupt("the offered grant does not fit what was asked for");
    }
    @Nullable Digest[] digests = digests(offer, count);
    List<GrantOffer.GrantedRange> ranges = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int index = offer.getNameIndex(i);
      long bytes = offer.getRangeBytes(i);
      if (index < 0 || index >= request.names().size() || bytes < 0) {
        throw corrupt("range " + i + " of the offered grant is of no block that was asked for");
      }
      ranges.add(new GrantOffer.GrantedRange(index, bytes, digests[i]));
    }
    return new GrantOffer(
        WireValues.grant(offer.getGrant()),
        ranges,
        offer.getLifetimeNanos(),
        offer.getWireForm().toByteArray());
  }

  private static @Nullable Digest[] digests(Offer offer, int ranges) {
    @Nullable Digest[] digests = new Digest[ranges];
    if (offer.getDigestRangeCount() != offer.getCrc32CCount()) {
      throw corrupt("the offered grant has digests without a range");
    }
    for (int i = 0; i < offer.getDigestRangeCount(); i++) {
      int range = offer.getDigestRange(i);
      if (range < 0 || range >= ranges || digests[range] != null) {
        throw corrupt(
            "digest " + i + " of the offered grant is of no range of it, or a second one");
      }
      digests[range] = new Digest(offer.getCrc32C(i));
    }
    return digests;
  }

  static Complete encode(Completion completion) {
    return Complete.newBuilder()
        .setGrant(WireValues.encode(completion.grant()))
        .setTicket(WireValues.encode(completion.ticket()))
        .setOutcome(completion.outcome())
        .setEvidence(completion.evidence().wire())
        .build();
  }

  static Completion completion(Complete complete) {
    Evidence evidence;
    try {
      evidence = Evidence.ofWire(complete.getEvidence());
    } catch (IllegalArgumentException e) {
      throw WireValues.invalid(String.valueOf(e.getMessage()));
    }
    return new Completion(
        WireValues.grant(complete.getGrant()),
        WireValues.ticket(complete.getTicket()),
        WireValues.text(complete.getOutcome(), "outcome"),
        evidence);
  }

  static Located encode(long[] located) {
    Located.Builder wire = Located.newBuilder();
    for (long bytes : located) {
      wire.addBytes(bytes);
    }
    return wire.build();
  }

  static long[] located(Located located, List<BlockName> names) {
    long[] bytes = located.getBytesList().stream().mapToLong(Long::longValue).toArray();
    if (bytes.length != names.size()) {
      throw corrupt(bytes.length + " lengths were answered for " + names.size() + " names");
    }
    return bytes;
  }

  static Refusal encode(TransportException refused, Epoch managerEpoch) {
    return Refusal.newBuilder()
        .setCode(refused.code().wire())
        .setMessage(WireValues.printable(String.valueOf(refused.getMessage())))
        .setManagerEpoch(WireValues.encode(managerEpoch))
        .build();
  }

  static TransportException refusal(Refusal refusal) {
    return new TransportException(
        FaultCode.ofWire(refusal.getCode()), WireValues.printable(refusal.getMessage()));
  }

  private static TransportException peerBytesTooLong(int bytes) {
    return WireValues.invalid(
        "the provider's bytes in Hello are %d; the limit is %d"
            .formatted(bytes, ControlLimits.MAX_PEER_BYTES));
  }

  private static TransportException corrupt(String message) {
    return new TransportException(FaultCode.CORRUPT, message);
  }
}
