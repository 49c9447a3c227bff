/**
 * The protocol of grants, tickets and receipts between Managers, stepped by one seeded random
 * source: the real state classes over a simulated clock, network and transport. One schedule is one
 * thread and no time at all; its seed replays it.
 */
@NullMarked
package io.orbitkv.systemtests.simulation;

import org.jspecify.annotations.NullMarked;
