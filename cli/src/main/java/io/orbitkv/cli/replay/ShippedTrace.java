package io.orbitkv.cli.replay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The trace that comes with the command: 240 requests of conversations that share system prompts,
 * 16 tokens a block. Synthetic: made by the class ConversationTrace in this module's tests.
 */
public final class ShippedTrace {
  private static final String RESOURCE = "quickstart.jsonl";

  private ShippedTrace() {}

  /** Its first requests. */
  public static List<TraceRequest> read(int limit) {
    try (InputStream stream = ShippedTrace.class.getResourceAsStream(RESOURCE)) {
      if (stream == null) {
        throw new IllegalStateException(RESOURCE + " is not in the command's jar; build it again");
      }
      BufferedReader reader =
          new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
      return TraceReader.read(RESOURCE, reader, limit);
    } catch (IOException | TraceException e) {
      throw new IllegalStateException(RESOURCE + " of the command's jar is damaged: " + e, e);
    }
  }

  /** How many different blocks requests name. */
  public static long distinctBlocks(List<TraceRequest> requests) {
    return requests.stream().flatMap(request -> request.hashes().stream()).distinct().count();
  }
}
