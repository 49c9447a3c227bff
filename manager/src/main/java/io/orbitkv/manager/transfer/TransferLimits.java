package io.orbitkv.manager.transfer;

/**
 * How much one ticket may carry; larger asks are partitioned.
 *
 * @param maxReadBytes payload of one ticket
 * @param maxDescriptors entries of one ticket
 * @param maxDescriptorBytes bytes of one entry
 */
public record TransferLimits(long maxReadBytes, int maxDescriptors, long maxDescriptorBytes) {}
