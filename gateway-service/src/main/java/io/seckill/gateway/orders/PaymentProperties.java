package io.seckill.gateway.orders;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What shoppers are told about paying; order-consumer enforces it and must be given the same.
 *
 * @param timeout from CONFIRMED to EXPIRED, 1 s..7 d
 */
@ConfigurationProperties("seckill.payment")
record PaymentProperties(@DefaultValue("30m") Duration timeout) {

  PaymentProperties {
    if (timeout.toMillis() < 1_000 || timeout.toDays() > 7) {
      throw new IllegalArgumentException("seckill.payment.timeout must be 1s..7d");
    }
  }
}
