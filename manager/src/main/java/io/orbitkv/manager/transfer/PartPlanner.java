package io.orbitkv.manager.transfer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cuts what an operation wants into parts: blocks of one owner, in order, as many as one READ may
 * carry. A block that is larger than that is a part of its own.
 */
final class PartPlanner {
  /** One part. */
  record Part(RemotePeers.RemotePeer owner, List<WantedBlock> blocks) {}

  private static final class Open {
    private final List<WantedBlock> blocks = new ArrayList<>();
    private long bytes;
  }

  private final TransferLimits limits;
  private final Map<RemotePeers.RemotePeer, Open> open = new LinkedHashMap<>();
  private final List<Part> parts = new ArrayList<>();

  PartPlanner(TransferLimits limits) {
    this.limits = limits;
  }

  void add(RemotePeers.RemotePeer owner, WantedBlock block) {
    Open current = open.computeIfAbsent(owner, _ -> new Open());
    if (!current.blocks.isEmpty()
        && (current.bytes + block.bytes() > limits.maxReadBytes()
            || current.blocks.size() == limits.maxDescriptors())) {
      parts.add(new Part(owner, List.copyOf(current.blocks)));
      current.blocks.clear();
      current.bytes = 0;
    }
    current.blocks.add(block);
    current.bytes += block.bytes();
  }

  List<Part> parts() {
    open.forEach((owner, rest) -> parts.add(new Part(owner, List.copyOf(rest.blocks))));
    open.clear();
    return List.copyOf(parts);
  }
}
