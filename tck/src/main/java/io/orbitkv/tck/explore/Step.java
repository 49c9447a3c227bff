package io.orbitkv.tck.explore;

/**
 * One atomic step of a model.
 *
 * @param what who does what, in one line
 * @param fault whether it is a fault: it may happen, but no end may depend on it
 * @param next the state after it
 */
public record Step<S>(String what, boolean fault, S next) {}
