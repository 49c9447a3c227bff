package io.orbitkv.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.orbitkv.api.spi.DeviceCopier;
import io.orbitkv.api.spi.Peer;
import io.orbitkv.api.spi.Registration;
import io.orbitkv.api.spi.SourceHold;
import io.orbitkv.api.spi.Ticket;
import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.tck.reference.ReferenceFixture;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The decorators forward everything, and fail only where and as their plan says. */
class FaultyTransportTest {
  /** What a decorated object is asked for, by the SPI type that it is. */
  private static final Map<Class<?>, Class<?>> DECORATORS =
      Map.of(
          TransportProvider.class, FaultyProvider.class,
          Transport.class, FaultyTransport.class,
          Registration.class, FaultyRegistration.class,
          Peer.class, FaultyPeer.class,
          Ticket.class, FaultyTicket.class,
          SourceHold.class, FaultyHold.class,
          DeviceCopier.class, FaultyCopier.class);

  @Test
  void everyMethodIsForwarded() throws ReflectiveOperationException {
    for (var entry : DECORATORS.entrySet()) {
      Class<?> type = entry.getKey();
      List<String> called = new ArrayList<>();
      Object inner =
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (_, method, _) -> {
                called.add(method.toString());
                return result(method.getReturnType());
              });
      var constructor = entry.getValue().getDeclaredConstructor(type, FaultPlan.class);
      Object decorator = constructor.newInstance(inner, FaultPlan.none());
      int methods = 0;
      for (Method method : type.getMethods()) {
        if (Modifier.isStatic(method.getModifiers())) {
          continue;
        }
        methods++;
        called.clear();
        call(decorator, method);
        // Guard: each @Override of the decorator; a default method would answer for itself.
        assertThat(called)
            .as("%s of %s", method, entry.getValue().getSimpleName())
            .anyMatch(name -> name.contains("." + method.getName() + "("));
      }
      assertThat(methods).isPositive();
    }
  }

  private static void call(Object decorator, Method method) throws ReflectiveOperationException {
    @Nullable Object[] arguments = new @Nullable Object[method.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = result(method.getParameterTypes()[i]);
    }
    try {
      Method own =
          decorator.getClass().getDeclaredMethod(method.getName(), method.getParameterTypes());
      own.invoke(decorator, arguments);
    } catch (InvocationTargetException e) {
      throw new AssertionError(method + " does not bear to be forwarded", e);
    }
  }

  /** Something of a type that can be handed on; null where nobody looks at it. */
  private static @Nullable Object result(Class<?> type) {
    if (type == boolean.class) {
      return true;
    }
    if (type == long.class || type == int.class) {
      return type == long.class ? (Object) 0L : (Object) 0;
    }
    if (type == Optional.class) {
      return Optional.empty();
    }
    if (type == List.class) {
      return List.of();
    }
    if (type == String.class) {
      return "";
    }
    return type == URI.class ? URI.create("x:y") : null;
  }

  @Test
  void withoutFaultsItIsTheOtherOne() {
    // Guard: as above, but seen by the suites: a call that is not forwarded fails one of them.
    TckReport report = TckRun.run(faulty(FaultPlan.none()));
    assertThat(report.rows(TckRow.Result.FAILED)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void refusalsAndLateReceiptsAreBorne(long seed) {
    FaultPlan plan = FaultPlan.of(seed, 30);
    try (EnginePair pair = EnginePair.open(faulty(FaultPlan.none()), 8)) {
      Exchange exchange = new Exchange(pair, 20_000);
      Peer peer = new FaultyPeer(exchange.peer, plan);
      int refused = 0;
      for (int i = 0; i < 100; i++) {
        Ticket ticket;
        try {
          ticket = pair.requester().read(peer, exchange.batch(exchange.grant(), 2));
        } catch (io.orbitkv.api.TransportException e) {
          refused++;
          continue;
        }
        assertThat(Await.outcome(ticket).completed()).isTrue();
        var _ = pair.requester().spend(ticket);
      }
      assertThat(refused).as("refusals under %s", plan).isBetween(10, 60);
    }
  }

  @Test
  void oneSeedIsOneSchedule() {
    assertThat(schedule(7)).isEqualTo(schedule(7)).isNotEqualTo(schedule(8));
  }

  private static List<Object> schedule(long seed) {
    FaultPlan plan = FaultPlan.of(seed);
    List<Object> schedule = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      for (FaultPlan.Point point : FaultPlan.Point.values()) {
        schedule.add(plan.strikes(point));
      }
      schedule.add(plan.linkFault());
      schedule.add(plan.below(1_000));
    }
    return schedule;
  }

  private static ProviderFixture faulty(FaultPlan plan) {
    ReferenceFixture inner = new ReferenceFixture(Set.of());
    return new ProviderFixture() {
      @Override
      public TransportProvider provider() {
        return new FaultyProvider(inner.provider(), plan);
      }

      @Override
      public Map<Behaviour, String> declined() {
        return inner.declined();
      }

      @Override
      public Optional<FaultLever> lever(Transport owner) {
        return inner.lever(owner);
      }
    };
  }
}
