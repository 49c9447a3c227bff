/** The configuration of a Manager: its settings, where their values come from, and their checks. */
@NullMarked
package io.orbitkv.manager.config;

import org.jspecify.annotations.NullMarked;
