/**
 * Linux libc calls through the Foreign Function and Memory API, with owned descriptors and maps.
 */
module io.orbitkv.ffm {
  requires static transitive org.jspecify;

  exports io.orbitkv.ffm;
}
