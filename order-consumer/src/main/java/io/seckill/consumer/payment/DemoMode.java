package io.seckill.consumer.payment;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param enabled whether payments are simulated when no payment provider is installed; nobody is
 *     charged then. Refused under the profiles prod and production
 */
@ConfigurationProperties("seckill.demo")
record DemoMode(@DefaultValue("false") boolean enabled) {}
