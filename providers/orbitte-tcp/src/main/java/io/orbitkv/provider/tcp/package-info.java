/**
 * The provider {@code orbitte-tcp}: READs over plain TCP, straight from and into registered memory.
 *
 * <p>The requester's half is {@link io.orbitkv.provider.tcp.TcpPeer} with its {@link
 * io.orbitkv.provider.tcp.Lane lanes} and {@link io.orbitkv.provider.tcp.TcpTicket tickets}; the
 * owner's half is {@link io.orbitkv.provider.tcp.OwnerService} with its connections and {@link
 * io.orbitkv.provider.tcp.TcpSourceHold holds}. Both halves rest on one {@link
 * io.orbitkv.provider.tcp.Gate} per ticket and per hold: the word from which their receipts come.
 * The wire protocol is described in docs/protocol/orbitte-tcp.md.
 */
@NullMarked
package io.orbitkv.provider.tcp;

import org.jspecify.annotations.NullMarked;
