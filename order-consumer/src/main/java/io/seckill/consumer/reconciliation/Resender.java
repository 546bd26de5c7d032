package io.seckill.consumer.reconciliation;

import com.rabbitmq.client.AMQP.BasicProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/**
 * Sends orders again from their admission records, with the same id and content, so that a second
 * message of an order that was not lost after all is a duplicate. Thread-safe.
 */
@Component
class Resender {

  private final ConfirmingPublisher publisher;

  Resender(ConfirmingPublisher publisher) {
    this.publisher = publisher;
  }

  /**
   * @param orders with the idempotency keys of their requests
   * @return orders that the broker has confirmed; the others may have arrived or not
   */
  Set<OrderId> send(ProductSnapshot sale, Map<OrderId, AdmissionRecord> orders) {
    Map<OrderId, CompletableFuture<Boolean>> confirms = new HashMap<>();
    orders.forEach((id, order) -> confirms.put(id, publish(message(sale, id, order))));
    long deadline = publisher.confirmDeadline();
    confirms.values().removeIf(confirm -> !ConfirmingPublisher.isConfirmed(confirm, deadline));
    return confirms.keySet();
  }

  private static OrderMessage message(ProductSnapshot sale, OrderId id, AdmissionRecord order) {
    return new OrderMessage(
        id,
        order.userId(),
        sale.skuId(),
        order.quantity(),
        Objects.requireNonNull(order.requestId()),
        sale.policy(),
        order.epoch(),
        order.seq(),
        order.admittedAt(),
        null);
  }

  @SuppressWarnings("JavaUtilDate") // the AMQP client takes no other time
  private CompletableFuture<Boolean> publish(OrderMessage order) {
    BasicProperties properties =
        new BasicProperties.Builder()
            .messageId(order.orderId().toString())
            .contentType("application/json")
            .timestamp(new Date())
            .appId("order-consumer")
            .build();
    return publisher.publish(
        BrokerTopology.ORDERS_EXCHANGE,
        BrokerTopology.routingKey(order.orderId().partition()),
        properties,
        OrderMessageCodec.encode(order).getBytes(StandardCharsets.UTF_8));
  }
}
