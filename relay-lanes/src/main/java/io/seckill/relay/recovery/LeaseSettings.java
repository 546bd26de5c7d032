package io.seckill.relay.recovery;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.common.redis.RedisSettings;
import java.time.Duration;

/**
 * When a lane counts as dead. The private queues of a dead relay are adopted within {@code
 * duration} + 2 × {@code renewInterval} + the lanes' poll interval. All relays use {@link
 * #DEFAULT}, because the shortest duration applies.
 *
 * @param duration how long a lease lasts without renewal, at least 3 × renewInterval
 * @param renewInterval time between two renewals and searches for dead queues
 * @param releaseAfter the lease of a lane that cannot work for this long (stuck, without a server,
 *     or refused by it) is no longer renewed, so that a relay with a better link adopts its private
 *     queue
 * @param quietPeriod how long a dead private queue must be empty before it is removed from the
 *     registry; more than {@link #checkQuietPeriod} asks for
 */
public record LeaseSettings(
    Duration duration, Duration renewInterval, Duration releaseAfter, Duration quietPeriod) {

  /**
   * A lease survives five failed renewals; a lane that only reconnects works again before its lease
   * is released; a minute is far longer than a claim takes to arrive.
   */
  public static final LeaseSettings DEFAULT =
      new LeaseSettings(
          Duration.ofSeconds(6),
          Duration.ofSeconds(1),
          Duration.ofSeconds(10),
          Duration.ofMinutes(1));

  /**
   * Time-outs that a round on a cluster may cost: a frozen node may have half of the partitions.
   */
  private static final int TIMEOUTS_PER_LEASE = 12;

  /**
   * One connection for renewals. A frozen node of a cluster costs the first round a time-out for
   * each of its partitions, and the leases of the others must not lapse meanwhile. A renewal that
   * is answered too late is made all the same.
   */
  RedisSettings forRenewals(RedisSettings redis) {
    Duration most = duration.dividedBy(TIMEOUTS_PER_LEASE);
    boolean isLong = redis.socketTimeout().compareTo(most) > 0;
    RedisSettings one = redis.withMaxConnections(1);
    return isLong && redis.mode() == RedisSettings.Mode.CLUSTER ? one.withSocketTimeout(most) : one;
  }

  /**
   * @param longestClaim longest time between sending a claim and giving up its connection
   * @throws IllegalArgumentException when a dead queue could be removed from the registry while
   *     such a claim is on its way to it
   */
  public void checkQuietPeriod(Duration longestClaim) {
    check(
        quietPeriod.compareTo(longestClaim) > 0,
        "seckill.redis.socket-timeout is too long: a claim may take "
            + longestClaim
            + ", which must be below "
            + quietPeriod);
  }
}
