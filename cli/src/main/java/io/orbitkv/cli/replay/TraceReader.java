package io.orbitkv.cli.replay;

import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads request traces in the format of the public Mooncake traces: one JSON object a line with
 * {@code timestamp} (ms), {@code input_length}, {@code output_length} (tokens) and {@code hash_ids}
 * (one a block); other fields are skipped, and so are blank lines. The whole file is checked before
 * any of it is used.
 */
public final class TraceReader {
  private static final String TIMESTAMP = "timestamp";
  private static final String INPUT = "input_length";
  private static final String OUTPUT = "output_length";
  private static final String HASHES = "hash_ids";

  private final String source;
  private int line;

  private TraceReader(String source) {
    this.source = source;
  }

  /**
   * Reads a file.
   *
   * @param limit at most so many requests are read; what follows is not looked at
   * @throws TraceException if a line is not a request, there is none, or the file can't be read
   */
  public static List<TraceRequest> read(Path file, long limit) throws TraceException {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      return read(file.toString(), reader, limit);
    } catch (NoSuchFileException e) {
      throw new TraceException(file + ": no such file; give the path of a trace in JSON lines");
    } catch (IOException e) {
      throw new TraceException(file + ": cannot be read (" + reason(e) + "); check its rights");
    }
  }

  /**
   * Reads from a reader, which stays open.
   *
   * @param source what errors call it
   * @param limit at most so many requests are read
   */
  public static List<TraceRequest> read(String source, BufferedReader reader, long limit)
      throws TraceException {
    return new TraceReader(source).readAll(reader, limit);
  }

  private List<TraceRequest> readAll(BufferedReader reader, long limit) throws TraceException {
    List<TraceRequest> requests = new ArrayList<>();
    try {
      while (requests.size() < limit) {
        line++;
        String text = reader.readLine();
        if (text == null) {
          break;
        }
        if (!text.isBlank()) {
          requests.add(request(text));
        }
      }
    } catch (CharacterCodingException e) {
      throw bad("is not UTF-8", "write the trace as UTF-8");
    } catch (IOException e) {
      throw bad("cannot be read (" + reason(e) + ")", "give a readable file");
    }
    if (requests.isEmpty()) {
      throw new TraceException(source + ": no request in it; give a trace with at least one line");
    }
    return requests;
  }

  private TraceRequest request(String text) throws TraceException {
    try (JsonReader json = new JsonReader(new StringReader(text))) {
      json.setStrictness(Strictness.STRICT);
      if (json.peek() != JsonToken.BEGIN_OBJECT) {
        throw bad("is not a JSON object", "write one object a line");
      }
      return fields(json);
    } catch (MalformedJsonException | EOFException e) {
      throw bad("is not valid JSON", "write one complete object a line");
    } catch (IOException e) {
      throw bad("cannot be parsed (" + reason(e) + ")", "write one complete object a line");
    }
  }

  private TraceRequest fields(JsonReader json) throws IOException, TraceException {
    Long timestamp = null;
    Long input = null;
    Long output = null;
    SequencedSet<Long> hashes = null;
    json.beginObject();
    while (json.hasNext()) {
      String name = json.nextName();
      switch (name) {
        case TIMESTAMP -> timestamp = once(name, timestamp, number(json, name));
        case INPUT -> input = once(name, input, number(json, name));
        case OUTPUT -> output = once(name, output, number(json, name));
        case HASHES -> hashes = once(name, hashes, hashes(json));
        default -> json.skipValue();
      }
    }
    json.endObject();
    // Refuses whatever stands behind the object.
    JsonToken end = json.peek();
    assert end == JsonToken.END_DOCUMENT;
    return new TraceRequest(
        present(TIMESTAMP, timestamp),
        present(INPUT, input),
        present(OUTPUT, output),
        List.copyOf(present(HASHES, hashes)));
  }

  private SequencedSet<Long> hashes(JsonReader json) throws IOException, TraceException {
    if (json.peek() != JsonToken.BEGIN_ARRAY) {
      throw bad(HASHES + " is not a list", "write it as [n, n, ...]");
    }
    SequencedSet<Long> hashes = new LinkedHashSet<>();
    json.beginArray();
    while (json.hasNext()) {
      hashes.add(number(json, HASHES));
    }
    json.endArray();
    return hashes;
  }

  private long number(JsonReader json, String name) throws IOException, TraceException {
    JsonToken token = json.peek();
    if (token != JsonToken.NUMBER) {
      throw bad(
          name + " is or holds " + token.name().toLowerCase(Locale.ROOT),
          "write a whole number from 0 to " + Long.MAX_VALUE);
    }
    String text = json.nextString();
    try {
      long number = Long.parseLong(text);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw bad(name + " is or holds " + text, "write a whole number from 0 to " + Long.MAX_VALUE);
  }

  private <T> T once(String name, @Nullable T before, T now) throws TraceException {
    if (before != null) {
      throw bad(name + " is given twice", "leave one");
    }
    return now;
  }

  private <T> T present(String name, @Nullable T value) throws TraceException {
    if (value == null) {
      throw bad(name + " is missing", "add it");
    }
    return value;
  }

  private TraceException bad(String what, String fix) {
    return new TraceException(source + ":" + line + ": " + what + "; " + fix);
  }

  private static String reason(IOException e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message.replaceAll("\\s+", " ");
  }
}
