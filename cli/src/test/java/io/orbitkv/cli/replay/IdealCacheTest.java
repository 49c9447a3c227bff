package io.orbitkv.cli.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class IdealCacheTest {
  private static TraceRequest request(long... hashes) {
    return new TraceRequest(0, 0, 0, LongStream.of(hashes).boxed().toList());
  }

  @Test
  void aHitNeedsAllEarlierBlocksOfItsRequest() {
    IdealCache cache = new IdealCache();

    assertThat(cache.hits(request(0, 1, 2))).isZero();
    assertThat(cache.hits(request(0, 1, 3))).isEqualTo(2);
    // 3 and 2 are known, but they stand behind 9, which is not.
    assertThat(cache.hits(request(0, 9, 3, 2))).isEqualTo(1);
    assertThat(cache.hits(request(8, 0))).isZero();
    assertThat(cache.hits(request(0, 9, 3, 2))).isEqualTo(4);
    assertThat(cache.hits(request())).isZero();
  }

  @Test
  void agreesWithASearchThroughAllEarlierRequests() {
    long seed = System.nanoTime();
    System.out.println("IdealCacheTest seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    List<TraceRequest> requests = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      requests.add(request(random.longs(random.nextInt(12), 0, 60).distinct().toArray()));
    }

    assertThat(IdealCache.hits(requests)).isEqualTo(searched(requests));
  }

  private static long searched(List<TraceRequest> requests) {
    long hits = 0;
    for (int i = 0; i < requests.size(); i++) {
      List<TraceRequest> earlier = requests.subList(0, i);
      hits +=
          requests.get(i).hashes().stream()
              .takeWhile(hash -> earlier.stream().anyMatch(one -> one.hashes().contains(hash)))
              .count();
    }
    return hits;
  }
}
