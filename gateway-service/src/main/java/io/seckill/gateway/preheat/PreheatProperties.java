package io.seckill.gateway.preheat;

import io.seckill.common.order.OrderMessage;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What a preheat writes beside MySQL's rules.
 *
 * @param maxPerOrder most units of one order, 1..10,000
 * @param retention how long a sale's data stays in Redis after closing, 2 h..30 d; retries with the
 *     same key get their first answer that long
 */
@ConfigurationProperties("seckill.preheat")
record PreheatProperties(
    @DefaultValue("100") int maxPerOrder, @DefaultValue("48h") Duration retention) {

  PreheatProperties {
    check(
        maxPerOrder >= 1 && maxPerOrder <= OrderMessage.MAX_QUANTITY,
        "max-per-order must be 1.." + OrderMessage.MAX_QUANTITY);
    check(retention.toHours() >= 2 && retention.toDays() <= 30, "retention must be 2h..30d");
  }

  private static void check(boolean ok, String otherwise) {
    if (!ok) {
      throw new IllegalArgumentException("seckill.preheat." + otherwise);
    }
  }
}
