package io.orbitkv.cli.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.orbitkv.api.spi.TransportProvider;
import io.orbitkv.bench.Comparison;
import io.orbitkv.bench.LoopShape;
import io.orbitkv.bench.SocketLoopClient;
import io.orbitkv.cli.output.Progress;
import io.orbitkv.cli.output.Units;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Measures what a plan says, and prints it. Used by one thread, once. */
public final class TransferRun {
  private final TransferPlan plan;
  private final PrintWriter out;
  private final Page page;
  private long errors;

  /**
   * Nothing is measured yet.
   *
   * @param out where tables or JSON go
   */
  public TransferRun(TransferPlan plan, PrintWriter out) {
    this.plan = plan;
    this.out = out;
    page = new Page(out, plan.json());
  }

  /** Whether an owner is needed, and not only Managers. */
  public boolean needsOwner() {
    return !plan.cases().equals(List.of(TransferCase.WHOLE_PATH));
  }

  /**
   * Measures.
   *
   * @param options of the provider, every one present
   * @param at where the owner listens
   * @param managers starts what the whole path needs
   * @return how many operations failed or brought a wrong byte
   */
  public long run(
      TransportProvider provider,
      Map<String, String> options,
      InetSocketAddress at,
      TwoManagers.Start managers)
      throws InterruptedException {
    JsonObject json = new JsonObject();
    try (Progress progress = Progress.onStandardError("bench transfer, runs", steps(), "")) {
      Runnable step = () -> progress.step(1);
      List<Section> sections = new ArrayList<>();
      if (needsOwner()) {
        try (Bench bench = Bench.open(provider, options, at, plan, step)) {
          json = withOwner(bench, sections);
        }
      }
      if (plan.wholePath()) {
        sections.add(new WholePathSection(plan, managers, page, step).run());
      }
      if (!sections.isEmpty()) {
        JsonArray all = new JsonArray();
        for (Section section : sections) {
          all.add(section.json());
          errors += section.errors();
        }
        json.add("cases", all);
      }
    }
    page.end();
    if (plan.json()) {
      out.println(json);
      out.flush();
    }
    return errors;
  }

  private JsonObject withOwner(Bench bench, List<Section> sections) throws InterruptedException {
    page.line(bench.provider().name() + ": " + asked(bench));
    page.line(bench.machine());
    page.line(
        "taken once before: registration of the pool %s, grant of the whole of it %s"
            .formatted(
                Units.nanos(bench.requester().registrationNanos()),
                Units.nanos(bench.requester().grantNanos())));
    if (plan.isTable() || !plan.cases().isEmpty()) {
      bench.warmUp();
    }
    JsonObject json = new JsonObject();
    ShapesSection rows = new ShapesSection(bench, page);
    if (plan.cases().isEmpty()) {
      List<Comparison> done = rows.table(plan.shapes());
      errors += done.stream().mapToLong(Comparison::errors).sum();
      json = done.size() == 1 ? TransferJson.of(done.getFirst()) : TransferJson.of(done);
    }
    for (TransferCase name : plan.cases()) {
      switch (name) {
        case LARGE -> sections.add(rows.run(name, Shapes.large()));
        case SCATTERED -> sections.add(rows.run(name, Shapes.scattered()));
        case SMALL -> sections.add(rows.run(name, Shapes.small()));
        case MIXED -> sections.add(new MixedSection(bench, page).run());
        case FAN_IN -> sections.add(new FanInSection(bench, page).run());
        case WHOLE_PATH -> {
          // Afterwards, without the owner and its pool.
        }
      }
    }
    String congestion = bench.requester().congestion();
    page.line("");
    page.line("congestion control in force: " + (congestion.isEmpty() ? "not known" : congestion));
    json.addProperty("provider", bench.provider().name());
    json.addProperty("options", asked(bench));
    json.addProperty("machine", bench.machine());
    json.addProperty("congestion", congestion);
    json.addProperty("registration_us", bench.requester().registrationNanos() / 1e3);
    json.addProperty("grant_us", bench.requester().grantNanos() / 1e3);
    return json;
  }

  private static String asked(Bench bench) {
    return bench.options().entrySet().stream()
        .filter(option -> !option.getValue().isEmpty())
        .map(option -> option.getKey() + "=" + option.getValue())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** The bar's length; what the C loop turns out not to be allowed makes it end early. */
  private long steps() {
    boolean inC = plan.baseline() != BaselineKind.JAVA && SocketLoopClient.possible();
    int ways = plan.baseline() == BaselineKind.NONE ? 0 : inC ? 2 : 1;
    List<LoopShape> shapes = new ArrayList<>(plan.cases().isEmpty() ? plan.shapes() : List.of());
    if (plan.isTable()) {
      shapes.addAll(WholePathSection.shapes());
    }
    long steps = 0;
    for (TransferCase name : plan.cases()) {
      switch (name) {
        case LARGE -> shapes.addAll(Shapes.large());
        case SCATTERED -> shapes.addAll(Shapes.scattered());
        case SMALL -> shapes.addAll(Shapes.small());
        case WHOLE_PATH -> shapes.addAll(WholePathSection.shapes());
        case MIXED -> steps += MixedSection.steps(plan.rounds(), ways);
        case FAN_IN -> steps += FanInSection.steps(plan.rounds(), ways);
      }
    }
    for (LoopShape shape : shapes) {
      steps += Bench.steps(shape, plan.rounds(), ways);
    }
    return steps;
  }
}
