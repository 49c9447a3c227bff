/** The same-host channel: its layouts, and the client for Java engines. */
module io.orbitkv.adapter {
  requires static transitive org.jspecify;
  requires transitive io.orbitkv.api;
  requires transitive io.orbitkv.ffm;

  exports io.orbitkv.adapter;
  exports io.orbitkv.adapter.plan;
  exports io.orbitkv.adapter.restore;
  exports io.orbitkv.adapter.ring;
  exports io.orbitkv.adapter.wire;
}
