package io.orbitkv.manager.config;

/** Of which published blocks a digest is taken. One that came with a fetched block is checked. */
public enum DigestPolicy {
  /** Those whose engine asks for it. */
  ASKED,
  /** All. */
  ALWAYS
}
