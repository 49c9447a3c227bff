package io.orbitkv.systemtests.simulation;

/**
 * How rough one schedule is; drawn from its seed, so that some schedules have one kind of fault
 * only, and some all of them.
 *
 * @param hosts how many Managers
 * @param poolPages pages of each pool
 * @param lossOdds a message is lost once in so many, 0: never
 * @param copyOdds a message is delivered twice once in so many
 * @param slowOdds a message is late by more than others' turns once in so many
 * @param crashes weight of crashes and orderly ends among the faults
 * @param freezes weight of frozen hosts
 * @param cuts weight of ended streams and connections
 * @param refusalOdds a provider's call is refused once in so many
 * @param defectOdds a provider's call throws what it must not once in so many
 * @param stepNanos how far the clock goes at once, at most
 */
record Weather(
    int hosts,
    int poolPages,
    int lossOdds,
    int copyOdds,
    int slowOdds,
    int crashes,
    int freezes,
    int cuts,
    int refusalOdds,
    int defectOdds,
    long stepNanos) {
  static Weather draw(Chance chance) {
    return new Weather(
        chance.of(2, 2, 3),
        chance.of(3, 4, 5, 8),
        chance.of(0, 0, 30, 8),
        chance.of(0, 20, 5),
        chance.of(0, 10, 4),
        chance.of(0, 1, 1, 3),
        chance.of(0, 1, 2),
        chance.of(0, 1, 3),
        chance.of(0, 40, 10),
        chance.of(0, 0, 0, 60),
        chance.of(1, 2, 10) * Limits.MILLISECOND);
  }
}
