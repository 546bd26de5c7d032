package io.seckill.relay.recovery;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.common.redis.RedisKeys;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When a lane counts as dead. The private queues of a dead relay are adopted within {@code
 * duration} + 2 × {@code renewInterval} + the lanes' poll interval.
 *
 * @param duration how long a lease lasts without renewal, at least 3 × renewInterval, up to 5 min;
 *     the same in all relays, because the shortest applies
 * @param renewInterval time between two renewals and searches for dead queues, 100 ms..10 s
 * @param handOverAfter the lease of a lane that cannot work for this long (no broker, stuck) is no
 *     longer renewed, so that a relay with a better link adopts its private queue
 * @param quietPeriod how long a dead private queue must be empty before it is removed from the
 *     registry; at least 10 s, and more than {@link #checkQuietPeriod} asks for
 */
@ConfigurationProperties("seckill.relay.lease")
public record LeaseSettings(
    @DefaultValue("6s") Duration duration,
    @DefaultValue("1s") Duration renewInterval,
    @DefaultValue("10s") Duration handOverAfter,
    @DefaultValue("60s") Duration quietPeriod) {

  /**
   * @throws IllegalArgumentException naming the property that is out of bounds
   */
  public LeaseSettings {
    check(
        renewInterval.toMillis() >= 100 && renewInterval.toSeconds() <= 10,
        "seckill.relay.lease.renew-interval must be 100ms..10s");
    check(
        duration.compareTo(renewInterval.multipliedBy(3)) >= 0
            && duration.compareTo(RedisKeys.LONGEST_LANE_LEASE) <= 0,
        "seckill.relay.lease.duration must be at least 3 times renew-interval, at most 5m");
    check(
        !handOverAfter.isNegative() && !handOverAfter.isZero(),
        "seckill.relay.lease.hand-over-after must be positive");
    check(quietPeriod.toSeconds() >= 10, "seckill.relay.lease.quiet-period must be at least 10s");
  }

  /**
   * @param longestClaim longest time between sending a claim and giving up its connection
   * @throws IllegalArgumentException when a dead queue could be removed from the registry while
   *     such a claim is on its way to it
   */
  public void checkQuietPeriod(Duration longestClaim) {
    check(
        quietPeriod.compareTo(longestClaim) > 0,
        "seckill.relay.lease.quiet-period must be above seckill.relay.poll-interval +"
            + " seckill.redis.socket-timeout");
  }
}
