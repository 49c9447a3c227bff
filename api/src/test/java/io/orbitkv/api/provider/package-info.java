@NullMarked
package io.orbitkv.api.provider;

import org.jspecify.annotations.NullMarked;
