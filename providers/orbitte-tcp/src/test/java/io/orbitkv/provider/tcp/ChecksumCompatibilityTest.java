package io.orbitkv.provider.tcp;

import java.util.Map;

/** The same with a checksum behind every reply. */
class ChecksumCompatibilityTest extends CompatibilityTest {
  @Override
  Map<String, String> settings() {
    return Host.options("checksum", "crc32c");
  }
}
