package io.seckill.common.sale;

import java.time.Duration;
import java.time.Instant;

/**
 * When a sale's keys expire. The rules expire first: without them nothing is admitted, so no
 * purchase is admitted after the sale's quotas or requests have expired.
 *
 * @param rulesMs Unix ms for the SKU's hash
 * @param restMs Unix ms for everything else
 */
public record SaleExpiry(long rulesMs, long restMs) {

  /** How long the rules expire before the other keys. */
  public static final Duration RULES_LEAD = Duration.ofHours(1);

  public static SaleExpiry of(Instant closesAt, Duration retention) {
    Instant rest = closesAt.plus(retention);
    return new SaleExpiry(rest.minus(RULES_LEAD).toEpochMilli(), rest.toEpochMilli());
  }
}
