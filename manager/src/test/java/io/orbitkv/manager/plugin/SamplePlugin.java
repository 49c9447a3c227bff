package io.orbitkv.manager.plugin;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** Builds real plugins, with a provider that is compiled on the spot. */
final class SamplePlugin {
  private final Path work;
  private final TreeMap<String, String> properties = new TreeMap<>();
  private final TreeMap<String, String> sources = new TreeMap<>();
  private String probe = "Probe.usable(\"fine\")";
  private String providerClass = "sample.SampleProvider";

  private SamplePlugin(Path work, String id) {
    this.work = work;
    properties.put("plugin.id", id);
    properties.put("plugin.version", "1.2.3");
    properties.put("plugin.requires", ">=1.0.0 & <2.0.0");
  }

  /** A plugin whose one provider is named like it and works. */
  static SamplePlugin named(Path work, String id) {
    SamplePlugin plugin = new SamplePlugin(work, id);
    plugin.provider(id, "new SpiVersion(1, 0)", "");
    return plugin;
  }

  SamplePlugin property(String key, String value) {
    properties.put(key, value);
    return this;
  }

  /** Its provider: name, SPI version as an expression, and further members. */
  SamplePlugin provider(String name, String spiVersion, String members) {
    return provider(name, spiVersion, members, name + "-port");
  }

  SamplePlugin provider(String name, String spiVersion, String members, String option) {
    String source =
        """
        package sample;
        import io.orbitkv.api.*;
        import io.orbitkv.api.spi.*;
        import java.util.*;
        public final class SampleProvider implements TransportProvider {
          %s
          @Override public String name() { return "%s"; }
          @Override public String version() { return "0.9"; }
          @Override public SpiVersion spiVersion() { return %s; }
          @Override public List<OptionSpec> options() {
            return List.of(new OptionSpec("%s", "PORT", "0", "a port"));
          }
          @Override public Capabilities capabilities(Map<String, String> options) {
            return new Capabilities(
                Set.of(MemoryKind.Type.HOST),
                Map.of(Side.DESTINATION, Set.of(Evidence.LOCAL_QUIESCED),
                    Side.SOURCE, Set.of(Evidence.LOCAL_QUIESCED)),
                1 << 20, 16, true, false);
          }
          @Override public Probe probe(Map<String, String> options) { return PROBE; }
          @Override public Transport open(ProviderContext context) {
            throw new UnsupportedOperationException();
          }
        }
        """
            .formatted(members, name, spiVersion, option);
    sources.put("sample/SampleProvider.java", source);
    return this;
  }

  /** What its probe returns, as an expression. */
  SamplePlugin probe(String expression) {
    probe = expression;
    return this;
  }

  /** A further class of the plugin. */
  SamplePlugin source(String file, String text) {
    sources.put(file, text);
    return this;
  }

  /** The class that META-INF/services names. */
  SamplePlugin service(String className) {
    providerClass = className;
    return this;
  }

  /** Builds it as a folder with plugin.properties and lib/NAME.jar. */
  Path folder(Path into, String... leftOut) throws IOException {
    String id = String.valueOf(properties.get("plugin.id"));
    Path folder = Files.createDirectories(into.resolve(id));
    Path lib = Files.createDirectories(folder.resolve("lib"));
    Files.writeString(folder.resolve("plugin.properties"), propertiesText());
    jar(lib.resolve(id + ".jar"), compile(), false, leftOut);
    return folder;
  }

  /** Builds it as one jar. */
  Path jar(Path into) throws IOException {
    Path jar = into.resolve(properties.get("plugin.id") + ".jar");
    jar(jar, compile(), true);
    return jar;
  }

  private String propertiesText() {
    StringBuilder text = new StringBuilder();
    properties.forEach((key, value) -> text.append(key + "=" + value + "\n"));
    return text.toString();
  }

  private Path compile() throws IOException {
    Path root = Files.createTempDirectory(work, "compile");
    Path classes = Files.createDirectories(root.resolve("classes"));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-nowarn",
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path")));
    for (var source : sources.entrySet()) {
      Path file = root.resolve(source.getKey());
      Files.createDirectories(Objects.requireNonNull(file.getParent()));
      Files.writeString(file, source.getValue().replace("PROBE", probe));
      arguments.add(file.toString());
    }
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, System.out, System.err, arguments.toArray(String[]::new));
    if (status != 0) {
      throw new IOException("the sample provider does not compile: " + sources);
    }
    return classes;
  }

  private void jar(Path jar, Path classes, boolean withProperties, String... leftOut)
      throws IOException {
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file);
        Stream<Path> files = Files.walk(classes)) {
      for (Path path : files.filter(Files::isRegularFile).sorted().toList()) {
        String name = classes.relativize(path).toString();
        if (!List.of(leftOut).contains(name)) {
          entry(out, name, Files.readAllBytes(path));
        }
      }
      entry(out, "META-INF/services/io.orbitkv.api.spi.Provider", providerClass.getBytes(UTF_8));
      if (withProperties) {
        entry(out, "plugin.properties", propertiesText().getBytes(UTF_8));
      }
    }
  }

  private static void entry(JarOutputStream out, String name, byte[] bytes) throws IOException {
    out.putNextEntry(new JarEntry(name));
    out.write(bytes);
    out.closeEntry();
  }
}
