package io.seckill.consumer.runtime;

import io.seckill.common.broker.BrokerTopology;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** One publisher to the order queues and the dead queue, and Spring's connection. */
@Configuration(proxyBeanMethods = false)
class BrokerConfiguration {

  @Bean
  ConfirmingPublisher publisher(BrokerConnections connections) {
    return new ConfirmingPublisher(
        connections, "dead letters, barriers, replays", BrokerTopology::declare);
  }

  /** Intake has connections of its own. */
  @Bean
  CachingConnectionFactory slowQueues(BrokerConnections connections) {
    return connections.cached("dead letters, queue lengths");
  }
}
