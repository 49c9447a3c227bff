package io.orbitkv.provider.tcp;

import java.util.Map;

/** The same of a source that sends by reference, whatever the length of a piece. */
class SendfileCompatibilityTest extends CompatibilityTest {
  @Override
  Map<String, String> settings() {
    return Host.options("source", "sendfile", "sendfile-least", "1");
  }
}
