package io.seckill.gateway.admission;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.redis.RedisSettings;
import io.seckill.support.broker.BrokerSettings;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Only a gateway that promises on the broker's confirm needs its address. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "seckill.admission.durable-in", havingValue = "broker")
@EnableConfigurationProperties(BrokerSettings.class)
class DirectChannelConfiguration {

  @Bean
  DirectChannel directChannel(BrokerSettings broker, RedisSettings redis, MeterRegistry meters) {
    return new DirectChannel(broker, redis, meters);
  }
}
