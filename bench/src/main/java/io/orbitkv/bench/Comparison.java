package io.orbitkv.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * One shape, measured for the provider and for the ways of the baseline in turn, in rounds.
 *
 * @param shape what was moved
 * @param own the provider's samples, one a round
 * @param baselines the baseline's, by its way; empty if there is none
 */
public record Comparison(LoopShape shape, List<Sample> own, Map<String, List<Sample>> baselines) {
  private static final double SLICE_SECONDS = 0.5;
  private static final double STEADY = 0.05;
  private static final int MOST_SLICES = 10;

  /**
   * Warms each up until its rate is steady: two slices of 0.5 s agree within 5 %, or 5 s have
   * passed; a compiler in the background is the slower the more else runs. Then measures, in
   * another order each round.
   *
   * @param own the provider
   * @param baselines the ways of the baseline
   * @param rounds at least 1
   * @param random decides the order
   * @param done runs after each measurement
   */
  public static Comparison run(
      LoopShape shape,
      Contender own,
      List<Contender> baselines,
      int rounds,
      double warmUpSeconds,
      double seconds,
      Random random,
      Runnable done)
      throws InterruptedException {
    List<Contender> all = new ArrayList<>(baselines);
    all.add(own);
    for (Contender contender : all) {
      settle(contender, shape, warmUpSeconds);
    }
    Map<Contender, List<Sample>> samples = new LinkedHashMap<>();
    for (int round = 0; round < rounds; round++) {
      Collections.shuffle(all, random);
      for (Contender contender : all) {
        samples
            .computeIfAbsent(contender, _ -> new ArrayList<>())
            .add(contender.measure(shape, warmUpSeconds, seconds));
        done.run();
      }
    }
    Map<String, List<Sample>> others = new LinkedHashMap<>();
    for (Contender baseline : baselines) {
      others.put(baseline.name(), samples.getOrDefault(baseline, List.of()));
    }
    return new Comparison(shape, samples.getOrDefault(own, List.of()), others);
  }

  private static void settle(Contender contender, LoopShape shape, double warmUpSeconds)
      throws InterruptedException {
    double slice = Math.min(SLICE_SECONDS, warmUpSeconds);
    double last = 0;
    for (int i = 0; i < MOST_SLICES; i++) {
      double rate = contender.measure(shape, 0, slice).gbps();
      if (Math.abs(rate - last) <= STEADY * rate) {
        return;
      }
      last = rate;
    }
  }

  /** Of the ways that sleep in the kernel, or of those that poll, the one with the best median. */
  public Optional<String> best(boolean polling) {
    return baselines.keySet().stream()
        .filter(name -> name.contains("polling") == polling)
        .max(Comparator.comparingDouble(name -> gbps(samples(name)).median()));
  }

  /** The samples of a way of the baseline. */
  public List<Sample> samples(String baseline) {
    return baselines.getOrDefault(baseline, List.of());
  }

  /** The provider's rate. */
  public Spread gbps() {
    return gbps(own);
  }

  /** The rate of some samples. */
  public static Spread gbps(List<Sample> samples) {
    return Spread.of(samples, Sample::gbps);
  }

  /** The provider's median rate as a multiple of a way's. */
  public double rateRatio(String baseline) {
    return gbps().median() / gbps(samples(baseline)).median();
  }

  /** Why an operation of the provider failed; empty if none did. */
  public String failure() {
    return own.stream()
        .map(Sample::failure)
        .filter(failure -> !failure.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** Operations that failed or brought a wrong byte, at anybody. */
  public long errors() {
    return own.stream().mapToLong(Sample::errors).sum()
        + baselines.values().stream().flatMap(List::stream).mapToLong(Sample::errors).sum();
  }
}
