package io.seckill.consumer.broker;

import io.seckill.common.broker.BrokerAddress;
import org.springframework.amqp.rabbit.connection.ConnectionNameStrategy;
import org.springframework.boot.amqp.autoconfigure.ConnectionFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Gives Spring's own broker connection, used on the slow paths, the same address and trusted CAs as
 * our connections, and a name in the same format.
 */
@Configuration(proxyBeanMethods = false)
class BrokerConfiguration {

  @Bean
  ConnectionFactoryCustomizer brokerAddress(BrokerProperties settings) {
    return factory -> BrokerAddress.set(factory, settings.url(), settings.caFile());
  }

  @Bean
  ConnectionNameStrategy brokerConnectionName() {
    return connections -> BrokerConnections.name("payment time-outs");
  }
}
