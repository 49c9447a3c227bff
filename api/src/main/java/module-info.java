/**
 * The values of OrbitKV transport and the interfaces that a provider implements. Depends on nothing
 * but the JDK.
 */
module io.orbitkv.api {
  requires static transitive org.jspecify;

  exports io.orbitkv.api;
  exports io.orbitkv.api.provider;
  exports io.orbitkv.api.spi;
}
