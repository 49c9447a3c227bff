package io.orbitkv.manager.transfer;

import io.orbitkv.adapter.BlockName;

/**
 * A block that an operation wants from a peer.
 *
 * @param index which name of the operation
 * @param name its name
 * @param bytes its length, as the peer said
 */
record WantedBlock(int index, BlockName name, long bytes) {}
