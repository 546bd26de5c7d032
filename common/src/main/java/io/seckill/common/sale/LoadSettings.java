package io.seckill.common.sale;

import io.seckill.common.settings.SettingChecks;
import java.time.Duration;

/**
 * Settings that a loading applies in addition to the rules from MySQL. They are configured in the
 * gateway; a preheat stores them with the product in MySQL, where a rebuild reads them.
 *
 * @param maxPerOrder most units of one order, 1..10,000
 * @param retention how long a sale's data stays in Redis after closing, 2 h..30 d; for that long,
 *     retries with the same key get their first answer
 */
public record LoadSettings(int maxPerOrder, Duration retention) {

  public static final int MOST_PER_ORDER = 10_000;
  public static final Duration SHORTEST_RETENTION = Duration.ofHours(2);
  public static final Duration LONGEST_RETENTION = Duration.ofDays(30);

  public LoadSettings {
    check(maxPerOrder, retention);
  }

  /**
   * @throws IllegalArgumentException naming the setting under {@code seckill.preheat} that is out
   *     of bounds
   */
  public static void check(int maxPerOrder, Duration retention) {
    SettingChecks.check(
        maxPerOrder >= 1 && maxPerOrder <= MOST_PER_ORDER,
        "seckill.preheat.max-per-order must be 1.." + MOST_PER_ORDER);
    SettingChecks.check(
        retention.compareTo(SHORTEST_RETENTION) >= 0 && retention.compareTo(LONGEST_RETENTION) <= 0,
        "seckill.preheat.retention must be 2h..30d");
  }
}
