package io.orbitkv.provider.tcp;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.GrantId;
import io.orbitkv.api.spi.SourceHold;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;

/** A requester written from the protocol's description alone; sends what it is told to. */
final class RawRequester implements AutoCloseable {
  static final long MAGIC = 0x4F4B565443500D0AL;

  /** A reply's header. */
  record Reply(int kind, int flags, int fault, long requestId, Epoch epoch, long payload) {
    /** One without flags. */
    Reply(int kind, int fault, long requestId, Epoch epoch, long payload) {
      this(kind, 0, fault, requestId, epoch, payload);
    }
  }

  final Socket socket = new Socket();
  final OutputStream out;
  final DataInputStream in;

  RawRequester(URI endpoint) throws IOException {
    socket.setReceiveBufferSize(32 << 10);
    socket.setSoTimeout(20_000);
    socket.connect(new InetSocketAddress(endpoint.getHost(), endpoint.getPort()));
    out = socket.getOutputStream();
    in = new DataInputStream(socket.getInputStream());
  }

  /** One that has exchanged prefaces as it should. */
  static RawRequester greeted(Host owner, Epoch self) throws IOException {
    RawRequester requester = new RawRequester(owner.transport.endpoint());
    requester.out.write(preface(MAGIC, 1, 0, self, owner.transport.epoch()));
    byte[] answer = requester.in.readNBytes(64);
    if (answer.length != 64 || ByteBuffer.wrap(answer).getShort(10) != 0) {
      throw new AssertionError("the owner refuses");
    }
    return requester;
  }

  /** As above, of one that says words; {@code required} feature bits. */
  static RawRequester saying(Host owner, Epoch self, int required) throws IOException {
    RawRequester requester = new RawRequester(owner.transport.endpoint());
    byte[] preface = preface(MAGIC, 1, required, self, owner.transport.epoch());
    preface[23] = 3;
    requester.out.write(preface);
    byte[] answer = requester.in.readNBytes(64);
    if (answer.length != 64 || ByteBuffer.wrap(answer).getShort(10) != 0) {
      throw new AssertionError("the owner refuses");
    }
    return requester;
  }

  /** A word on the reply to a READ, under a hold's own token. */
  static ByteBuffer word(long requestId, SourceHold hold) {
    ByteBuffer form = ByteBuffer.wrap(hold.wireForm());
    ByteBuffer frame = ByteBuffer.allocate(48);
    frame.putInt(0, 48).put(4, (byte) 5).putLong(8, requestId);
    frame.putLong(16, hold.grant().id()).putLong(24, hold.grant().generation());
    frame.putLong(32, form.getLong(56)).putLong(40, form.getLong(64));
    return frame;
  }

  static byte[] preface(long magic, int version, int required, Epoch self, Epoch expected) {
    ByteBuffer bytes = ByteBuffer.allocate(64);
    bytes.putLong(0, magic).putShort(8, (short) version).putInt(16, required);
    bytes.putLong(24, self.high()).putLong(32, self.low());
    bytes.putLong(40, expected.high()).putLong(48, expected.low());
    return bytes.array();
  }

  /** A READ of one plain entry, under a hold's own token. */
  static ByteBuffer read(long requestId, SourceHold hold, int range, long offset, int length) {
    return read(requestId, hold.grant(), hold.wireForm(), range, offset, length);
  }

  static ByteBuffer read(
      long requestId, GrantId grant, byte[] wireForm, int range, long offset, int length) {
    ByteBuffer form = ByteBuffer.wrap(wireForm);
    ByteBuffer frame = ByteBuffer.allocate(80);
    frame.putInt(0, 80).put(4, (byte) 1);
    frame.putLong(8, requestId).putLong(16, grant.id()).putLong(24, grant.generation());
    frame.putLong(32, form.getLong(56)).putLong(40, form.getLong(64));
    frame.putLong(48, length).putInt(56, 1);
    frame.putInt(64, range).putInt(68, length).putLong(72, offset);
    return frame;
  }

  /** A READ of one strided entry. */
  static ByteBuffer readStrided(
      long requestId, SourceHold hold, long offset, long length, long stride, int count) {
    ByteBuffer plain = read(requestId, hold, 0, 0, 1);
    ByteBuffer frame = ByteBuffer.allocate(96);
    frame.put(0, plain, 0, 64);
    frame.putInt(0, 96).put(5, (byte) 1);
    frame.putLong(48, length * count);
    frame.putInt(64, 0).putInt(68, count);
    frame.putLong(72, offset).putLong(80, length).putLong(88, stride);
    return frame;
  }

  void send(ByteBuffer frame) throws IOException {
    byte[] bytes = new byte[frame.capacity()];
    frame.get(0, bytes);
    out.write(bytes);
  }

  Reply reply() throws IOException {
    ByteBuffer header = ByteBuffer.wrap(in.readNBytes(40));
    if (header.capacity() < 40) {
      throw new IOException("the stream ended after " + header.capacity() + " bytes of a header");
    }
    return new Reply(
        header.get(0),
        header.get(1),
        header.getShort(2),
        header.getLong(8),
        new Epoch(header.getLong(16), header.getLong(24)),
        header.getLong(32));
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
