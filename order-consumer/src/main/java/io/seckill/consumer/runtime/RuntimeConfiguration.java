package io.seckill.consumer.runtime;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import java.time.Duration;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/** Beans of the sweeps and the internal port: transactions, a publisher, Spring's connection. */
@Configuration(proxyBeanMethods = false)
class RuntimeConfiguration {

  /** A request that waited 3 s for a lock is answered 503, and is not kept waiting again. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** On Spring Boot's own connection pool. */
  @Bean
  TransactionOperations transactions(PlatformTransactionManager manager, MeterRegistry meters) {
    return new RetryingTransactions(new TransactionTemplate(manager), PATIENCE, meters);
  }

  /** To the order queues and the dead queue. */
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
