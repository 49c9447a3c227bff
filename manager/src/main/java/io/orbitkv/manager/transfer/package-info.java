/** The requester's half of a READ: tickets, outcomes, receipts, quarantine. */
@NullMarked
package io.orbitkv.manager.transfer;

import org.jspecify.annotations.NullMarked;
