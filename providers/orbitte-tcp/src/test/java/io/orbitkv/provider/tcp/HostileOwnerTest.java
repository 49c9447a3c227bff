package io.orbitkv.provider.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.Batch;
import io.orbitkv.api.Descriptor;
import io.orbitkv.api.Epoch;
import io.orbitkv.api.Evidence;
import io.orbitkv.api.FaultCode;
import io.orbitkv.api.Outcome;
import io.orbitkv.api.Region;
import io.orbitkv.api.RemoteDescriptor;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Ticket;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the requester makes of an owner that answers wrongly; the owner is made by hand. */
class HostileOwnerTest {
  private static final int BYTES = 100;

  private final Epoch epoch = Epoch.random();

  @ParameterizedTest
  @EnumSource
  void wrongAnswerFailsTheTicketAndWritesNothing(Answer answer) throws IOException {
    // Guards: the checks of Lane.greet, ReplyHeader.decode and ReplyReader.begin, one each;
    // without it the ticket completes, waits for ever or has another code.
    try (Host requester = Host.open("connections", "1");
        ServerSocket listener = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      var served = CompletableFuture.runAsync(() -> serve(listener, requester, answer));
      Region target = requester.registered(BYTES);
      Peer peer =
          requester.transport.connect(
              URI.create("orbitte+tcp://127.0.0.1:" + listener.getLocalPort()), epoch, new byte[0]);
      var remote = peer.importRegion(wireForm(epoch, requester.transport.epoch(), BYTES));
      Ticket ticket =
          requester.read(
              peer,
              Batch.from(remote)
                  .add(Descriptor.of(target.id(), 0, BYTES), RemoteDescriptor.of(0, 0, BYTES))
                  .build());
      Outcome outcome = Host.outcome(ticket);
      if (answer == Answer.SOUND) {
        assertThat(outcome).isEqualTo(Outcome.COMPLETED);
      } else {
        assertThat(outcome)
            .isInstanceOfSatisfying(
                Outcome.Failed.class, failed -> assertThat(failed.code()).isEqualTo(answer.code));
        assertThat(target.memory().get(ValueLayout.JAVA_BYTE, 0)).isZero();
      }
      assertThat(requester.spend(ticket)).isEqualTo(Evidence.LOCAL_QUIESCED);
      served.join();
    }
  }

  private void serve(ServerSocket listener, Host requester, Answer answer) {
    try (Socket socket = listener.accept()) {
      ByteBuffer preface =
          ByteBuffer.wrap(
              RawRequester.preface(RawRequester.MAGIC, 1, 0, epoch, requester.transport.epoch()));
      byte[] theirs = socket.getInputStream().readNBytes(64);
      assertThat(ByteBuffer.wrap(theirs).getLong(40)).isEqualTo(epoch.high());
      answer.preface.accept(preface);
      socket.getOutputStream().write(bytes(preface));
      ByteBuffer read = ByteBuffer.wrap(socket.getInputStream().readNBytes(80));
      if (read.capacity() == 80) {
        ByteBuffer reply = ByteBuffer.allocate(40 + BYTES);
        reply.put(0, (byte) 2).putLong(8, read.getLong(8));
        reply.putLong(16, epoch.high()).putLong(24, epoch.low()).putLong(32, BYTES);
        for (int i = 40; i < reply.capacity(); i++) {
          reply.put(i, (byte) 1);
        }
        answer.reply.accept(reply);
        socket.getOutputStream().write(bytes(reply));
      }
      // The requester ends the connection, unless all was well.
      if (answer != Answer.SOUND) {
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
      }
    } catch (IOException e) {
      // Reset by the requester, over bytes that it did not take.
      assertThat(answer).isNotEqualTo(Answer.SOUND);
    }
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.capacity()];
    buffer.get(0, bytes);
    return bytes;
  }

  /** A grant of one range. */
  static byte[] wireForm(Epoch epoch, Epoch requester, int length) {
    ByteBuffer form = ByteBuffer.allocate(80);
    form.putShort(0, (short) 1).putInt(4, 1).putLong(8, 1).putLong(16, 1);
    form.putLong(24, epoch.high()).putLong(32, epoch.low());
    form.putLong(40, requester.high()).putLong(48, requester.low()).putLong(72, length);
    return bytes(form);
  }

  @SuppressWarnings("ImmutableEnumChecker") // The changes are functions without state.
  enum Answer {
    SOUND(FaultCode.UNKNOWN, preface -> {}, reply -> {}),
    MAGIC(FaultCode.CORRUPT, preface -> preface.putLong(0, 1), reply -> {}),
    VERSION(FaultCode.UNSUPPORTED, preface -> preface.putShort(8, (short) 7), reply -> {}),
    FEATURE(FaultCode.UNSUPPORTED, preface -> preface.putInt(16, 8), reply -> {}),
    OWNER_EPOCH(FaultCode.STALE_EPOCH, preface -> preface.putLong(24, 1), reply -> {}),
    OWN_EPOCH(FaultCode.STALE_EPOCH, preface -> preface.putLong(40, 1), reply -> {}),
    REFUSED(
        FaultCode.EXHAUSTED,
        preface -> preface.putShort(10, (short) 1).putShort(12, (short) 5),
        reply -> {}),
    KIND(FaultCode.CORRUPT, preface -> {}, reply -> reply.put(0, (byte) 1)),
    RESERVED(FaultCode.CORRUPT, preface -> {}, reply -> reply.put(1, (byte) 1)),
    REQUEST_ID(FaultCode.CORRUPT, preface -> {}, reply -> reply.putLong(8, 1_000_000)),
    REPLY_EPOCH(FaultCode.CORRUPT, preface -> {}, reply -> reply.putLong(24, 1)),
    LONGER(FaultCode.CORRUPT, preface -> {}, reply -> reply.putLong(32, BYTES + 1)),
    SHORTER(FaultCode.CORRUPT, preface -> {}, reply -> reply.putLong(32, BYTES - 1)),
    NEGATIVE(FaultCode.CORRUPT, preface -> {}, reply -> reply.putLong(32, -1)),
    REFUSAL_WITH_PAYLOAD(FaultCode.CORRUPT, preface -> {}, reply -> reply.put(0, (byte) 3)),
    END(
        FaultCode.INVALID,
        preface -> {},
        reply -> reply.put(0, (byte) 4).putShort(2, (short) 1).putLong(32, 0)),
    UNKNOWN_CODE(
        FaultCode.UNKNOWN,
        preface -> {},
        reply -> reply.put(0, (byte) 4).putShort(2, (short) 999).putLong(32, 0));

    private final FaultCode code;
    private final Consumer<ByteBuffer> preface;
    private final Consumer<ByteBuffer> reply;

    Answer(FaultCode code, Consumer<ByteBuffer> preface, Consumer<ByteBuffer> reply) {
      this.code = code;
      this.preface = preface;
      this.reply = reply;
    }
  }
}
