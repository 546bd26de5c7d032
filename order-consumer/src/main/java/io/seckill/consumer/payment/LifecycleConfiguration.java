package io.seckill.consumer.payment;

import com.rabbitmq.client.Channel;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.runtime.Sweeper;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.core.AcknowledgeMode;
import org.springframework.amqp.rabbit.connection.Connection;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts the background tasks: the listener for payment time-outs, and the sweeps. */
@Configuration(proxyBeanMethods = false)
class LifecycleConfiguration {

  private static final Logger log = LoggerFactory.getLogger(LifecycleConfiguration.class);
  private static final int PREFETCH = 8;
  private static final long RECOVERY_MS = 1_000;
  private static final Duration PAID_RESULTS_PAUSE = Duration.ofSeconds(1);

  /** The sweeps find only what a lost message or a crash left unfinished, so they need no hurry. */
  private static final Duration SWEEP_PAUSE = Duration.ofSeconds(10);

  @Bean
  Sweeper expirySweeper(Expiry expiry) {
    return new Sweeper("expiry-sweep", SWEEP_PAUSE, expiry::sweep);
  }

  @Bean
  Sweeper paymentSweeper(Payments payments) {
    return new Sweeper("payment-sweep", SWEEP_PAUSE, payments::sweep);
  }

  @Bean
  Sweeper chargeReportSweeper(ChargeReports reports) {
    return new Sweeper("charge-reports", SWEEP_PAUSE, reports::sweep);
  }

  @Bean
  Sweeper pendingWorkSweeper(PendingWork work) {
    return new Sweeper("pending-work", SWEEP_PAUSE, work::read);
  }

  @Bean
  Sweeper paidResultsSweeper(PaidResults paid) {
    return new Sweeper("paid-results", PAID_RESULTS_PAUSE, paid::sweep);
  }

  @Bean
  @ConditionalOnProperty("seckill.payment.callback-secret")
  CallbackSignature callbackSignature(PaymentProperties properties, Clock clock) {
    String secret = properties.callbackSecret();
    if (secret == null) {
      throw new IllegalArgumentException("seckill.payment.callback-secret must not be empty");
    }
    return new CallbackSignature(secret, clock);
  }

  /** The broker may be unavailable at start; the container retries until it is available. */
  @Bean
  SimpleMessageListenerContainer expiryListenerContainer(
      ConnectionFactory connections, PaymentDelayTopology topology, ExpiryListener listener) {
    connections.addConnectionListener(connection -> declare(connection, topology));
    SimpleMessageListenerContainer container = new SimpleMessageListenerContainer(connections);
    container.setQueueNames(PaymentDelayTopology.EXPIRED_QUEUE);
    container.setAcknowledgeMode(AcknowledgeMode.MANUAL);
    container.setConsumerTagStrategy(BrokerConnections::name);
    container.setPrefetchCount(PREFETCH);
    container.setForceStop(true);
    container.setDefaultRequeueRejected(false);
    container.setMissingQueuesFatal(false);
    container.setRecoveryInterval(RECOVERY_MS);
    container.setMessageListener(listener);
    return container;
  }

  private static void declare(@Nullable Connection connection, PaymentDelayTopology topology) {
    if (connection == null) {
      return;
    }
    try (Channel channel = connection.createChannel(false)) {
      topology.declare(channel);
    } catch (IOException | TimeoutException e) {
      log.warn("Cannot declare the queues of the payment time-out: {}", e.toString());
    }
  }
}
