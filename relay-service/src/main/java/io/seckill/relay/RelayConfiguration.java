package io.seckill.relay;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.redis.RedisSettings;
import io.seckill.relay.lane.RelayLanes;
import io.seckill.relay.publish.BrokerConnector;
import io.seckill.relay.publish.RelayMeters;
import io.seckill.relay.recovery.LeaseSettings;
import io.seckill.support.broker.BrokerSettings;
import io.seckill.support.redis.RedisSettingsConfiguration;
import java.util.List;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Configuration(proxyBeanMethods = false)
@Import(RedisSettingsConfiguration.class)
@EnableConfigurationProperties(BrokerSettings.class)
class RelayConfiguration {

  @Bean
  RelayMeters relayMeters(MeterRegistry registry) {
    return new RelayMeters(registry);
  }

  @Bean
  BrokerConnector brokerConnector(BrokerSettings broker, RelaySettings relay, RelayMeters meters) {
    return new BrokerConnector(broker.factory(), relay.links(), meters);
  }

  @Bean
  RelayLanes relayLanes(
      RelaySettings relay, RedisSettings redis, BrokerConnector broker, RelayMeters meters) {
    return new RelayLanes(relay.lanes(), List.of(), LeaseSettings.DEFAULT, redis, broker, meters);
  }
}
