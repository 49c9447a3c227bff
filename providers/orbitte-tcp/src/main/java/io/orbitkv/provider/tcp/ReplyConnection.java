package io.orbitkv.provider.tcp;

/** What a reply was sent by, as a source hold knows it. */
interface ReplyConnection {
  /** Ends it, from any thread; its own resets it then, and says so. */
  void shutdown();
}
