package io.orbitkv.systemtests.rig;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import io.orbitkv.manager.control.proto.Offer;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;

/** A peer of orbitte-tcp that is no Manager, written from docs/protocol/orbitte-tcp.md. */
public final class RawRequester implements AutoCloseable {
  private static final long MAGIC = 0x4F4B565443500D0AL;
  private static final int PREFACE_BYTES = 64;
  private static final int READ_BYTES = 80;
  private static final int REPLY_BYTES = 40;

  /** Where the token is in a grant's wire form. */
  private static final int TOKEN = 56;

  private final Socket socket = new Socket();
  private final OutputStream out;
  private final DataInputStream in;
  private long requestId;

  private RawRequester(InetSocketAddress owner) throws IOException {
    socket.setSoTimeout(10_000);
    socket.connect(owner, 5_000);
    out = socket.getOutputStream();
    in = new DataInputStream(socket.getInputStream());
  }

  /** Connects; says nothing yet. */
  public static RawRequester connect(InetSocketAddress owner) throws IOException {
    return new RawRequester(owner);
  }

  /** Connects to a Manager's transport, directly or through a proxy, and is accepted. */
  public static RawRequester greeted(InetSocketAddress where, Epoch self, Epoch owner)
      throws IOException {
    RawRequester requester = connect(where);
    requester.hello(self, owner);
    requester.accepted();
    return requester;
  }

  /** Sends the preface of version 1. */
  public void hello(Epoch self, Epoch expected) throws IOException {
    ByteBuffer preface = ByteBuffer.allocate(PREFACE_BYTES).putLong(MAGIC).putShort((short) 1);
    self.write(preface.position(24));
    expected.write(preface);
    out.write(preface.array());
  }

  /** Reads the owner's preface, which must be a refusal, and says why it was refused. */
  public FaultCode refusal() throws IOException {
    ByteBuffer preface = ByteBuffer.wrap(in.readNBytes(PREFACE_BYTES));
    if (preface.remaining() < PREFACE_BYTES || preface.getLong(0) != MAGIC) {
      throw new AssertionError("the owner sent no preface but " + preface);
    }
    if (preface.getShort(10) != 1) {
      throw new AssertionError("the owner did not refuse");
    }
    return FaultCode.ofWire(preface.getShort(12));
  }

  /** Reads the owner's preface, which must accept this one. */
  public void accepted() throws IOException {
    ByteBuffer preface = ByteBuffer.wrap(in.readNBytes(PREFACE_BYTES));
    if (preface.remaining() < PREFACE_BYTES || preface.getShort(10) != 0) {
      throw new AssertionError("the owner refused this connection: " + preface);
    }
  }

  /** Sends the READ of one piece of a grant's first range, with whatever length that is. */
  public void read(Offer offer, long offset, int length) throws IOException {
    ByteBuffer form = offer.getWireForm().asReadOnlyByteBuffer();
    ByteBuffer frame = ByteBuffer.allocate(READ_BYTES);
    frame.putInt(0, READ_BYTES).put(4, (byte) 1).putLong(8, ++requestId);
    frame.putLong(16, offer.getGrant().getId()).putLong(24, offer.getGrant().getGeneration());
    frame.putLong(32, form.getLong(TOKEN)).putLong(40, form.getLong(TOKEN + Long.BYTES));
    frame.putLong(48, length).putInt(56, 1);
    frame.putInt(64, 0).putInt(68, length).putLong(72, offset);
    out.write(frame.array());
  }

  /** Reads the next reply. */
  public Reply reply() throws IOException {
    ByteBuffer header = ByteBuffer.wrap(in.readNBytes(REPLY_BYTES));
    if (header.remaining() < REPLY_BYTES) {
      throw new AssertionError("the owner closed without a reply");
    }
    return new Reply(
        header.get(0),
        FaultCode.ofWire(header.getShort(2)),
        MemorySegment.ofArray(in.readNBytes((int) header.getLong(32))));
  }

  /**
   * A reply.
   *
   * @param kind {@link #DATA}, {@link #REFUSED} or {@link #END}
   * @param fault why not
   * @param payload empty unless it is data
   */
  public record Reply(int kind, FaultCode fault, MemorySegment payload) {
    /** With the bytes that were asked for. */
    public static final int DATA = 2;

    /** This READ was refused. */
    public static final int REFUSED = 3;

    /** The owner takes no more on this connection. */
    public static final int END = 4;
  }

  /** What the owner sends until it closes the connection. */
  public byte[] restOfStream() throws IOException {
    return in.readAllBytes();
  }

  /** The payload of a reply that the owner's close cuts off, as far as it came. */
  public MemorySegment cutReply() throws IOException {
    byte[] rest = restOfStream();
    if (rest.length < REPLY_BYTES || rest[0] != Reply.DATA) {
      throw new AssertionError("the owner sent no data but " + rest.length + " bytes");
    }
    return MemorySegment.ofArray(rest).asSlice(REPLY_BYTES);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
