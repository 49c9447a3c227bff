package io.orbitkv.tck.reference;

import io.orbitkv.api.spi.Transport;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.tck.Behaviour;
import io.orbitkv.tck.FaultLever;
import io.orbitkv.tck.ProviderFixture;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The fixture of the reference provider, honest or with defects. */
public final class ReferenceFixture implements ProviderFixture {
  private final Lever lever = new Lever();
  private final ReferenceProvider provider;

  /** A fixture of a provider that is wrong in these ways; empty: in none. */
  public ReferenceFixture(Set<Defect> defects) {
    provider = new ReferenceProvider(lever, defects);
  }

  @Override
  public TransportProvider provider() {
    return provider;
  }

  @Override
  public Map<Behaviour, String> declined() {
    return Map.of(Behaviour.PACKAGE, "the reference provider is part of the kit, not a plugin");
  }

  @Override
  public Optional<FaultLever> lever(Transport owner) {
    URI endpoint = owner.endpoint();
    return Optional.of(
        new FaultLever() {
          @Override
          public URI endpoint() {
            return endpoint;
          }

          @Override
          public void stallAfter(long bytes) {
            lever.stallAfter(bytes);
          }

          @Override
          public void resume() {
            lever.open();
          }

          @Override
          public void cut() {
            lever.cut();
          }

          @Override
          public void redirect(Transport successor) {
            lever.redirect(endpoint, successor.endpoint());
          }

          @Override
          public void close() {
            lever.open();
          }
        });
  }
}
