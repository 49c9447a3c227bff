package io.orbitkv.systemtests.rig;

import io.orbitkv.adapter.BlockLease;
import io.orbitkv.adapter.ClientOptions;
import io.orbitkv.adapter.LeasedBlock;
import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.Origin;
import io.orbitkv.adapter.Piece;
import io.orbitkv.adapter.PublishResult;
import io.orbitkv.adapter.QueryOptions;
import io.orbitkv.adapter.RegisteredMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small engine: fills pages, publishes them, reads pages back and checks every byte. One thread
 * at a time; owned by whoever attached it.
 */
public final class Engine implements AutoCloseable {
  private static final Duration PUBLISH = Duration.ofSeconds(30);

  private final ManagerClient client;

  private Engine(ManagerClient client) {
    this.client = client;
  }

  /** Attaches to the Manager behind the socket. */
  public static Engine attach(Path socket) {
    return new Engine(ManagerClient.connect(socket, ClientOptions.DEFAULTS));
  }

  /** The session. */
  public ManagerClient client() {
    return client;
  }

  /** Publishes pages and says what became of each. */
  public List<PublishResult> publish(List<Page> pages) {
    long total = pages.stream().mapToLong(Page::bytes).sum();
    try (RegisteredMemory memory = client.allocate(total)) {
      List<Piece> pieces = new ArrayList<>();
      long at = 0;
      for (Page page : pages) {
        page.fill(memory.segment().asSlice(at, page.bytes()));
        pieces.add(new Piece(page.name(), memory, at, page.bytes()));
        at += page.bytes();
      }
      return client.publish(pieces, PUBLISH);
    }
  }

  /** Publishes pages, each of which must be stored. */
  public void store(List<Page> pages) {
    for (PublishResult result : publish(pages)) {
      if (result.status() != PublishResult.Status.STORED) {
        throw new AssertionError("not stored: " + result);
      }
    }
  }

  /**
   * Reads pages and checks every byte of those that came; what did not come is a miss.
   *
   * @return the pages that came and where they were found
   * @throws AssertionError naming the page and the byte, if one is wrong
   */
  public Map<Page, Origin> read(List<Page> pages, QueryOptions options) {
    try (BlockLease lease = lease(pages, options)) {
      return check(pages, lease);
    }
  }

  /** Leases pages, for {@link #check} to read later; the caller closes it. */
  public BlockLease lease(List<Page> pages, QueryOptions options) {
    return client.queryAndWait(pages.stream().map(Page::name).toList(), options);
  }

  /** Copies out and checks the pages of a lease. */
  public static Map<Page, Origin> check(List<Page> asked, BlockLease lease) {
    Map<Page, Origin> found = new LinkedHashMap<>();
    try (Arena arena = Arena.ofConfined()) {
      int longest = asked.stream().mapToInt(Page::bytes).max().orElse(1);
      MemorySegment copy = arena.allocate(longest, 64);
      for (LeasedBlock block : lease.blocks()) {
        Page page = asked.get(block.index());
        if (block.bytes() != page.bytes()) {
          throw new AssertionError(page + " came with " + block.bytes() + " bytes");
        }
        lease.copyTo(block, copy);
        long wrong = page.firstWrongByte(copy);
        if (wrong >= 0) {
          throw new AssertionError(
              page + " from " + block.origin() + " is wrong from byte " + wrong + " on");
        }
        found.put(page, block.origin());
      }
    }
    return found;
  }

  @Override
  public void close() {
    client.close();
  }
}
