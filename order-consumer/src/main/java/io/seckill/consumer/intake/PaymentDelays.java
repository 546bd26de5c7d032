package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.payment.ExpiryMessage;
import io.seckill.consumer.payment.PaymentDelayTopology;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StoreOutcome.Known;
import io.seckill.consumer.storage.StoreOutcome.Stored;
import jakarta.annotation.PreDestroy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/**
 * Starts the payment time-out of confirmed orders with one message per SKU and batch. A lost
 * message is harmless: the expiry sweep reads MySQL. So publishing delays the acks a little and
 * never prevents them; a broker alarm ends only when consumers take messages away. Thread-safe.
 *
 * <p>Has a publisher of its own: while the queues of the payment time-out are missing, every
 * publish closes the channel, and the dead letters on it would wait for another one.
 */
@Component
class PaymentDelays {

  private final ConfirmingPublisher publisher;
  private final String routingKey;
  private final Counter missed;

  PaymentDelays(
      BrokerConnections connections, PaymentDelayTopology topology, MeterRegistry meters) {
    this.publisher = new ConfirmingPublisher(connections, "payment delays", topology::declare);
    this.routingKey = topology.routingKey();
    this.missed =
        Counter.builder("seckill.consumer.payment.delays.missed")
            .description("Payment delay messages without a confirm; the expiry sweep stands in")
            .register(meters);
  }

  /**
   * Publishes for every order that waits for its payment, also for those stored by an earlier
   * delivery: that consumer may have died between COMMIT and publishing.
   */
  List<CompletableFuture<Boolean>> start(List<StoreOutcome> outcomes) {
    Map<Long, List<OrderId>> bySku = new TreeMap<>();
    for (StoreOutcome outcome : outcomes) {
      if (waitsForPayment(outcome)) {
        OrderMessage order = outcome.order();
        bySku.computeIfAbsent(order.skuId(), sku -> new ArrayList<>()).add(order.orderId());
      }
    }
    List<CompletableFuture<Boolean>> confirms = new ArrayList<>(bySku.size());
    bySku.forEach((sku, orders) -> confirms.add(publish(new ExpiryMessage(sku, orders))));
    return confirms;
  }

  private static boolean waitsForPayment(StoreOutcome outcome) {
    return outcome instanceof Stored
        || (outcome instanceof Known known && known.status() == OrderStatus.CONFIRMED);
  }

  private CompletableFuture<Boolean> publish(ExpiryMessage message) {
    BasicProperties properties =
        new BasicProperties.Builder().contentType("application/json").build();
    return publisher.publish(
        PaymentDelayTopology.EXCHANGE, routingKey, properties, message.encode());
  }

  /** Counts messages without a confirm: the broker may or may not have them. */
  void missed(int messages) {
    missed.increment(messages);
  }

  @PreDestroy
  void close() {
    publisher.close();
  }
}
