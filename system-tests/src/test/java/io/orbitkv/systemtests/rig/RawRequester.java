package io.orbitkv.systemtests.rig;

import io.orbitkv.api.Epoch;
import io.orbitkv.api.FaultCode;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;

/** A peer of orbitte-tcp that is no Manager, written from docs/protocol/orbitte-tcp.md. */
public final class RawRequester implements AutoCloseable {
  private static final long MAGIC = 0x4F4B565443500D0AL;
  private static final int PREFACE_BYTES = 64;

  private final Socket socket = new Socket();
  private final OutputStream out;
  private final DataInputStream in;

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

  /** What the owner sends until it closes the connection. */
  public byte[] restOfStream() throws IOException {
    return in.readAllBytes();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
