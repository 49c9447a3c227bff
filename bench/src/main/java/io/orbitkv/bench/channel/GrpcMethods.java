package io.orbitkv.bench.channel;

import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The two methods that are measured; their messages are bytes. */
final class GrpcMethods {
  static final String SERVICE = "orbitkv.bench.Channel";

  static final MethodDescriptor<byte[], byte[]> UNARY =
      method("Unary", MethodDescriptor.MethodType.UNARY);
  static final MethodDescriptor<byte[], byte[]> STREAM =
      method("Stream", MethodDescriptor.MethodType.BIDI_STREAMING);

  private GrpcMethods() {}

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static MethodDescriptor<byte[], byte[]> method(
      String name, MethodDescriptor.MethodType type) {
    return MethodDescriptor.newBuilder(new Bytes(), new Bytes())
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
        .build();
  }

  /** The fastest that it has to offer: over one connection, answered on the event loop. */
  static ManagedChannel connect(String address) {
    return NettyChannelBuilder.forTarget(address).usePlaintext().directExecutor().build();
  }

  /** What a server answers. */
  static byte[] answer(byte[] request) {
    byte[] answer = request.clone();
    answer[0]++;
    return answer;
  }

  /** Throws if that is not the answer. */
  static void check(byte[] request, byte[] answer) throws IOException {
    if (answer.length != Exchange.MESSAGE_BYTES || answer[0] != (byte) (request[0] + 1)) {
      throw new IOException("a wrong answer came");
    }
  }
}
