package io.orbitkv.tck;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Hands the fixture of a run to its suites; a launcher can carry only text, so it carries a key.
 */
final class LentFixture implements ParameterResolver {
  static final String KEY = "orbitkv.tck.fixture";

  private static final Map<String, ProviderFixture> LENT = new ConcurrentHashMap<>();

  LentFixture() {}

  static String lend(ProviderFixture fixture) {
    String key = UUID.randomUUID().toString();
    LENT.put(key, fixture);
    return key;
  }

  static void takeBack(String key) {
    LENT.remove(key);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == ProviderFixture.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getConfigurationParameter(KEY)
        .map(LENT::get)
        .orElseThrow(
            () -> new ParameterResolutionException("no fixture is lent; use TckRun to run it"));
  }
}
