package io.orbitkv.cli;

import io.orbitkv.api.spi.OptionSpec;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.OwnerServer;
import io.orbitkv.cli.bench.BaselineKind;
import io.orbitkv.cli.bench.TransferCase;
import io.orbitkv.cli.bench.TransferPlan;
import io.orbitkv.cli.bench.TransferRun;
import io.orbitkv.manager.config.HostPort;
import io.orbitkv.manager.config.SettingValues;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command {@code orbitkv bench transfer}: how fast a provider reads blocks from another
 * process, beside a raw socket loop. Exit code 1 if an operation failed or brought a wrong byte.
 */
@Command(
    name = "transfer",
    description = {
      "Measures a provider between two processes, in turn with a raw C socket loop that moves the"
          + " same blocks, and prints one row a shape: rate, times of each step, receipt, processor"
          + " time, errors, and the ratio to the best way of the loop.",
      "Without --connect it starts the owner's process itself. With one value of --block-bytes and"
          + " --json it prints one JSON object.",
      "Ends with 1 if an operation failed or a byte was wrong."
    },
    mixinStandardHelpOptions = true)
final class BenchTransferCommand implements Callable<Integer> {
  /** Never connected to: a run without an owner. */
  private static final String NOWHERE = "127.0.0.1:1";

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--provider",
      paramLabel = "NAME",
      defaultValue = "orbitte-tcp",
      description = "The provider that is measured. Default: ${DEFAULT-VALUE}.")
  private String providerName = "";

  @Option(
      names = {"-o", "--option"},
      paramLabel = "NAME=VALUE",
      description = "An option of the provider, by its full name; repeatable.")
  private Map<String, String> options = new LinkedHashMap<>();

  @Option(
      names = "--plugin-dir",
      paramLabel = "DIR",
      description = "Further folder of plugins, or one plugin; repeatable.")
  private @Nullable List<String> pluginDirs;

  @Option(
      names = "--block-bytes",
      paramLabel = "SIZE",
      split = ",",
      converter = ByteSize.class,
      description = "Length of a block; several, divided by commas. Default: the table's rows.")
  private List<Long> blockBytes = List.of();

  @Option(
      names = "--batch",
      paramLabel = "N",
      split = ",",
      defaultValue = "1",
      description = "Blocks in one operation; several, divided by commas. Default: 1.")
  private List<Integer> batches = List.of();

  @Option(
      names = "--threads",
      paramLabel = "N",
      split = ",",
      defaultValue = "1",
      description = "Threads, one operation each; several, divided by commas. Default: 1.")
  private List<Integer> threads = List.of();

  @Option(
      names = "--stride-bytes",
      paramLabel = "SIZE",
      converter = ByteSize.class,
      description = "Blocks so far apart, as one strided descriptor. Default: random places.")
  private @Nullable Long strideBytes;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long a measurement takes. Default: 1, of the table 0.4.")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "S",
      description =
          "How long the same is done unmeasured before it. Default: 1, of the table 0.15, of a case 0.5.")
  private @Nullable Double warmUp;

  @Option(
      names = "--case",
      paramLabel = "NAME",
      split = ",",
      description =
          "A named case instead: large, scattered, small, mixed, fan-in, whole-path, or all; in"
              + " rounds, with medians.")
  private List<String> cases = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "How often all are measured; medians are shown. Default: 1, of a case 5.")
  private @Nullable Integer rounds;

  @Option(
      names = "--pool-bytes",
      paramLabel = "SIZE",
      defaultValue = "512MiB",
      converter = ByteSize.class,
      description = "Size of the pool at each end. Default: ${DEFAULT-VALUE}.")
  private long poolBytes;

  @Option(
      names = "--baseline",
      paramLabel = "auto|c|java|none",
      defaultValue = "auto",
      description =
          "What is measured in turn with the provider; auto: a raw C socket loop, compiled here, or"
              + " one in Java without a compiler. Default: ${DEFAULT-VALUE}.")
  private String baseline = "";

  @Option(
      names = "--listen",
      paramLabel = "IP:PORT",
      description = "Be the owner for a requester on another host, until the process is ended.")
  private @Nullable String listen;

  @Option(
      names = "--connect",
      paramLabel = "IP:PORT",
      description = "Read from the owner that listens there.")
  private @Nullable String connect;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  private BenchTransferCommand() {}

  @Override
  public Integer call() throws CommandException, InterruptedException {
    Map<String, String> flags =
        pluginDirs == null
            ? Map.of()
            : Map.of(
                Settings.PLUGIN_DIRS.name(),
                String.join(String.valueOf(Settings.PLUGIN_DIRS.separator()), pluginDirs));
    // First: a mistake in what is to be measured needs no provider to be told.
    TransferPlan plan = plan();
    SettingValues values = SettingValues.beforePlugins(flags, System.getenv());
    try (ProviderCatalog catalog = ManagerCommand.catalog(values)) {
      LoadedProvider loaded = Backend.select(catalog, providerName);
      TransportProvider provider = Backend.transport(loaded);
      Map<String, String> all = new LinkedHashMap<>(values.optionsOf(loaded.options()));
      options.forEach((name, value) -> set(all, loaded, name, value));
      Backend.checkUsable(loaded, all);
      try (LoadedProvider.Use _ = loaded.use()) {
        if (listen != null) {
          return own(provider, all, listen);
        }
        return measure(plan, provider, all);
      }
    }
  }

  private void set(Map<String, String> all, LoadedProvider loaded, String name, String value) {
    if (!all.containsKey(name)) {
      throw new ParameterException(
          spec.commandLine(),
          "-o "
              + name
              + ": "
              + loaded.name()
              + " has no such option; choose from "
              + loaded.options().stream().map(OptionSpec::name).toList());
    }
    all.put(name, value);
  }

  private int own(TransportProvider provider, Map<String, String> all, String at) {
    try (OwnerServer server = OwnerServer.listen(provider, all, listenAddress(at))) {
      var out = spec.commandLine().getOut();
      InetSocketAddress bound = server.address();
      out.println(
          "listening " + new HostPort(bound.getAddress().getHostAddress(), bound.getPort()));
      out.flush();
      server.serve();
    }
    return 0;
  }

  private int measure(TransferPlan plan, TransportProvider provider, Map<String, String> all)
      throws CommandException, InterruptedException {
    TransferRun run = new TransferRun(plan, spec.commandLine().getOut());
    long errors;
    if (connect != null || !run.needsOwner()) {
      InetSocketAddress at = address("--connect", connect == null ? NOWHERE : connect);
      errors = run.run(provider, all, at, this::startManagers);
    } else {
      try (OwnerProcess owner = OwnerProcess.start(arguments())) {
        errors = run.run(provider, all, owner.address(), this::startManagers);
      }
    }
    if (errors > 0) {
      throw new CommandException(
          "bench transfer: "
              + errors
              + " operations failed or brought wrong bytes; the column err says where");
    }
    return 0;
  }

  private BenchManagers startManagers(long ownerPoolBytes, long askedPoolBytes)
      throws InterruptedException {
    List<String> backend = new ArrayList<>(List.of("--peer-transfer-backend", providerName));
    options.forEach((name, value) -> backend.add("--" + name + "=" + value));
    if (pluginDirs != null) {
      pluginDirs.forEach(folder -> backend.addAll(List.of("--plugin-dir", folder)));
    }
    return BenchManagers.start(ownerPoolBytes, askedPoolBytes, backend);
  }

  private TransferPlan plan() {
    List<TransferCase> named = named();
    boolean table = blockBytes.isEmpty() && named.isEmpty();
    double each = seconds == null ? (table ? 0.4 : 1) : seconds;
    double before = warmUp == null ? (table ? 0.15 : named.isEmpty() ? 1 : 0.5) : warmUp;
    int times = rounds == null ? (named.isEmpty() ? 1 : 5) : rounds;
    if (!(each >= 0.01 && each <= 3600) || !(before >= 0 && before <= 3600) || times < 1) {
      throw new ParameterException(
          spec.commandLine(),
          "--seconds takes 0.01 to 3600, --warm-up 0 to 3600, --rounds 1 or more");
    }
    try {
      List<LoopShape> shapes = blockBytes.isEmpty() ? TransferPlan.rows() : shapes();
      for (LoopShape shape : shapes) {
        checkRoom(shape);
      }
      return new TransferPlan(
          named, shapes, table, times, before, each, poolBytes, baselineKind(), json);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    }
  }

  private void checkRoom(LoopShape shape) {
    try {
      var _ = shape.batchIn(poolBytes);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("--pool-bytes: " + e.getMessage(), e);
    }
  }

  private BaselineKind baselineKind() {
    try {
      return BaselineKind.valueOf(baseline.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(),
          "--baseline " + baseline + ": there is none; give auto, c, java or none",
          e);
    }
  }

  private List<TransferCase> named() {
    if (cases.contains("all")) {
      return List.of(TransferCase.values());
    }
    List<TransferCase> named = new ArrayList<>();
    for (String name : cases) {
      named.add(
          Arrays.stream(TransferCase.values())
              .filter(known -> known.toString().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new ParameterException(
                          spec.commandLine(),
                          "--case "
                              + name
                              + ": there is none; choose from "
                              + Arrays.toString(TransferCase.values())
                              + " or all")));
    }
    return named;
  }

  private List<LoopShape> shapes() {
    List<LoopShape> shapes = new ArrayList<>();
    for (long block : blockBytes) {
      for (int batch : batches) {
        for (int count : threads) {
          shapes.add(new LoopShape(block, batch, strideBytes == null ? 0 : strideBytes, count));
        }
      }
    }
    return shapes;
  }

  /** How this process was told which provider. */
  private List<String> arguments() {
    List<String> arguments = new ArrayList<>(List.of("--provider", providerName));
    options.forEach((name, value) -> arguments.addAll(List.of("-o", name + "=" + value)));
    if (pluginDirs != null) {
      pluginDirs.forEach(folder -> arguments.addAll(List.of("--plugin-dir", folder)));
    }
    return arguments;
  }

  /** As {@link #address}; port 0 takes a free one. */
  private InetSocketAddress listenAddress(String text) {
    if (!text.endsWith(":0")) {
      return address("--listen", text);
    }
    InetSocketAddress any = address("--listen", text.substring(0, text.length() - 1) + "1");
    return new InetSocketAddress(any.getAddress(), 0);
  }

  private InetSocketAddress address(String option, String text) {
    try {
      HostPort at = HostPort.parse(text);
      return new InetSocketAddress(InetAddress.getByName(at.host()), at.port());
    } catch (IllegalArgumentException | UnknownHostException e) {
      throw new ParameterException(
          spec.commandLine(), option + " " + text + ": give an IP address and a port", e);
    }
  }
}
