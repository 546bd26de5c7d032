package io.seckill.consumer.reconciliation;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param interval pause between two checks of all sales, 1 s..1 h; only one of several consumers
 *     checks
 * @param barrierTimeout longest wait until everything before a barrier is stored, 1 s..10 min; it
 *     must be longer than a full order queue takes
 * @param autoRebuild whether a sale whose data Redis has lost is rebuilt without a request; a
 *     rebuild that has begun is always continued
 */
@ConfigurationProperties("seckill.reconciliation")
record ReconciliationProperties(
    @DefaultValue("30s") Duration interval,
    @DefaultValue("45s") Duration barrierTimeout,
    @DefaultValue("false") boolean autoRebuild) {

  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final int CHECKS_WHILE_BUSY = 10;
  private static final Duration LARGE_SALE = Duration.ofMinutes(3);
  private static final Duration LONGEST_WITHOUT_LEADER = Duration.ofSeconds(30);

  ReconciliationProperties {
    check(
        isWithin(interval, SHORTEST, Duration.ofHours(1)),
        "seckill.reconciliation.interval must be 1s..1h");
    check(
        isWithin(barrierTimeout, SHORTEST, Duration.ofMinutes(10)),
        "seckill.reconciliation.barrier-timeout must be 1s..10m");
  }

  /**
   * How often a sale that sells continuously is compared: each comparison waits for its orders in
   * motion. One that has stopped selling is compared at the next check.
   */
  Duration busyInterval() {
    return interval.multipliedBy(CHECKS_WHILE_BUSY);
  }

  /** Pause between two attempts to lead. An alert says when no process leads for five minutes. */
  Duration untilLeading() {
    return interval.compareTo(LONGEST_WITHOUT_LEADER) < 0 ? interval : LONGEST_WITHOUT_LEADER;
  }

  /**
   * How long a lock outlives the last activity of its holder: more than the pause between two
   * checks, and more than one run, whose longest waits are for a barrier and for the data of a
   * large sale.
   */
  Duration lockSilence() {
    Duration longestWait = interval.compareTo(barrierTimeout) > 0 ? interval : barrierTimeout;
    return longestWait.multipliedBy(2).plus(LARGE_SALE);
  }
}
