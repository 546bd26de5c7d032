package io.seckill.gateway.fallback;

import io.seckill.common.sale.FallbackMode;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param fallback whether MySQL may decide the sales of Redis while Redis cannot; the same in all
 *     gateways and order-consumers
 */
@ConfigurationProperties("seckill")
record PromiseProperties(@DefaultValue("off") FallbackMode fallback) {}
