/** What the system tests are made with: processes, engines, proxies, networks and patterns. */
@NullMarked
package io.orbitkv.systemtests.rig;

import org.jspecify.annotations.NullMarked;
