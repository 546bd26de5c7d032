package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param fallback whether MySQL decides while Redis cannot; the same in all gateways and
 *     order-consumers
 */
@ConfigurationProperties("seckill")
record FallbackProperties(@DefaultValue("off") FallbackMode fallback) {}
