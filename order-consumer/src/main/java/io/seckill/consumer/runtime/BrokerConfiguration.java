package io.seckill.consumer.runtime;

import io.seckill.common.broker.BrokerAddress;
import io.seckill.common.broker.BrokerTopology;
import org.springframework.amqp.rabbit.connection.ConnectionNameStrategy;
import org.springframework.boot.amqp.autoconfigure.ConnectionFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * One publisher to the order queues and the dead queue; and, for Spring's own broker connection,
 * the address and trusted CAs of our connections, and a name in the same format.
 */
@Configuration(proxyBeanMethods = false)
class BrokerConfiguration {

  @Bean
  ConfirmingPublisher publisher(BrokerConnections connections) {
    return new ConfirmingPublisher(
        connections, "dead letters, barriers, replays", BrokerTopology::declare);
  }

  @Bean
  ConnectionFactoryCustomizer brokerAddress(BrokerProperties settings) {
    return factory -> BrokerAddress.set(factory, settings.url(), settings.caFile());
  }

  @Bean
  ConnectionNameStrategy brokerConnectionName() {
    return connections -> BrokerConnections.name("payment time-outs");
  }
}
