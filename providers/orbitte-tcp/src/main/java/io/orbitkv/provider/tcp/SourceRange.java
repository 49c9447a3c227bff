package io.orbitkv.provider.tcp;

import java.lang.foreign.MemorySegment;

/**
 * A granted range of the source.
 *
 * @param memory its bytes
 * @param file the descriptor behind them, open as long as their registration is in use; -1: none
 * @param position where in that file they begin, bytes
 */
record SourceRange(MemorySegment memory, int file, long position) {}
