package io.orbitkv.bench;

import io.orbitkv.api.spi.TransportProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Several requesters of one source: each a transport of its own, with its own epoch, connections,
 * grant and pool, all in this process. The threads of a shape are spread over them.
 */
public final class FanIn implements Contender, AutoCloseable {
  private final OwnerLink owner;
  private final String name;
  private final List<Requester> requesters = new ArrayList<>();

  private FanIn(OwnerLink owner, String name) {
    this.owner = owner;
    this.name = name;
  }

  /**
   * Opens them.
   *
   * @param count how many
   * @param poolBytes of each
   */
  public static FanIn open(
      TransportProvider provider,
      Map<String, String> options,
      OwnerLink owner,
      int count,
      long poolBytes) {
    FanIn all = new FanIn(owner, provider.name());
    try {
      for (int i = 0; i < count; i++) {
        all.requesters.add(Requester.open(provider, options, owner, poolBytes));
      }
      return all;
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Sample measure(LoopShape shape, double warmUpSeconds, double seconds)
      throws InterruptedException {
    LoopShape alone = new LoopShape(shape.blockBytes(), shape.batch(), shape.strideBytes(), 1);
    List<Work> works = new ArrayList<>();
    for (Requester requester : requesters.subList(0, shape.threads())) {
      works.add(requester.work(alone, 0));
    }
    return new LoopGroup(works, warmUpSeconds, seconds).run(name, owner);
  }

  @Override
  public void close() {
    requesters.forEach(Requester::close);
  }
}
