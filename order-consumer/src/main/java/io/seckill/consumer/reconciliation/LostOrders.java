package io.seckill.consumer.reconciliation;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.reconciliation.Comparisons.Read;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.storage.Barriers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Finds orders that were admitted and are in no store (I4), and sends them again. Their loss is
 * proven, not guessed from their age: see docs/adr/0007-a-barrier-instead-of-a-hold.md.
 */
@Component
record LostOrders(
    RedisSale sales,
    RedisListScan lists,
    Barriers barriers,
    KnownOrders known,
    ConfirmingPublisher publisher) {

  private static final Logger log = LoggerFactory.getLogger(LostOrders.class);

  /**
   * Reads the suspects first, then Redis's lists, then waits for the barrier, then reads MySQL: in
   * this order each step proves something about all that came before. MySQL is also read before the
   * barrier, because an operator may replay a dead letter meanwhile: its message is then behind the
   * barrier.
   *
   * @param suspects orders with a record in Redis and none in MySQL
   * @return suspects that are in no store; empty when the barrier has not passed in time, and
   *     nothing is known of them
   */
  Optional<Map<OrderId, AdmissionRecord>> among(
      long skuId, Map<OrderId, AdmissionRecord> suspects, Duration atMost) {
    Map<OrderId, AdmissionRecord> left = new HashMap<>(suspects);
    if (!left.isEmpty()) {
      lists.removeFrom(skuId, left.keySet());
      known.among(left.keySet()).forEach(left::remove);
    }
    if (left.isEmpty()) {
      return Optional.of(left);
    }
    if (!barriers.pass(Partition.ofSku(skuId), atMost)) {
      log.warn(
          "sku {}: a barrier has not passed within {}; whether {} orders are lost is unknown",
          skuId,
          atMost,
          left.size());
      return Optional.empty();
    }
    known.among(left.keySet()).forEach(left::remove);
    return Optional.of(left);
  }

  /**
   * Hands over the orders that have a record in Redis and are not in MySQL, those of some buckets
   * at a time.
   */
  void missing(ProductSnapshot sale, int buckets, Consumer<Map<OrderId, AdmissionRecord>> each) {
    for (int from = 0, to; from < buckets; from = to + 1) {
      to = RedisSale.lastOfPart(sale, from, buckets);
      Map<OrderId, AdmissionRecord> missing = sales.part(sale, from, to).records();
      known.among(missing.keySet()).forEach(missing::remove);
      each.accept(missing);
    }
  }

  /**
   * Searches a sale that is not compared, and sends its lost orders again, as {@link #send} does.
   *
   * @param partEnds called after each part of the buckets; may wait
   * @return false when orders are on their way, or may be: nothing is searched
   */
  boolean sendAll(Read read, Duration atMost, boolean dryRun, Runnable partEnds, RepairLog to) {
    ProductSnapshot sale = read.sale();
    long skuId = sale.skuId();
    if (!lists.hasNone(skuId) || !barriers.pass(Partition.ofSku(skuId), atMost)) {
      return false;
    }
    missing(
        sale,
        read.seen().bucketCount(),
        missing -> {
          to.addAll(send(sale, missing, dryRun));
          partEnds.run();
        });
    return true;
  }

  /**
   * Corrects the count of published orders after orders were lost from Redis's lists: when no order
   * of the SKU is there, and none was admitted since the state was read, all have been published or
   * lost. The count is read before the lists: an order that is put there later changes it, and so
   * prevents the repair.
   */
  List<Repair> counters(ProductSnapshot sale, RedisSaleState seen, boolean dryRun) {
    if (seen.unpublished() <= 0) {
      return List.of();
    }
    RedisSaleState now = sales.state(sale.skuId());
    boolean areInLists = now.unpublished() > 0 && !lists.hasNone(sale.skuId());
    return now.seq() != seen.seq() || now.unpublished() <= 0 || areInLists
        ? List.of()
        : List.of(
            Repair.of(
                RepairKind.COUNTER_SET,
                sale.skuId(),
                now.unpublished() + " orders not published",
                "0",
                !dryRun && sales.setPublished(sale, now)));
  }

  /**
   * Sends those orders again that may become CONFIRMED; those that the broker has not confirmed are
   * found again by the next search. The others were decided by a MySQL that has lost them, or Redis
   * does not have their requests, and they are only reported.
   */
  List<Repair> send(ProductSnapshot sale, Map<OrderId, AdmissionRecord> missing, boolean dryRun) {
    if (missing.isEmpty()) {
      return List.of();
    }
    Map<OrderId, AdmissionRecord> sendable = new HashMap<>(missing);
    sendable.values().removeIf(order -> !isSendable(order));
    Set<OrderId> sent = dryRun || sendable.isEmpty() ? Set.of() : publish(sale, sendable);
    log.error(
        "sku {}: {} orders were lost, {} of them sent again; {} cannot be sent",
        sale.skuId(),
        missing.size(),
        sent.size(),
        missing.size() - sendable.size());
    List<Repair> repairs = new ArrayList<>();
    missing.forEach((id, order) -> repairs.add(repair(id, order, sent.contains(id))));
    return repairs;
  }

  /**
   * Sends with the same id and content, so that a second message of an order that was not lost
   * after all is a duplicate.
   *
   * @param orders with the idempotency keys of their requests
   * @return orders that the broker has confirmed; the others may have arrived or not
   */
  private Set<OrderId> publish(ProductSnapshot sale, Map<OrderId, AdmissionRecord> orders) {
    Map<OrderId, CompletableFuture<Boolean>> confirms = new HashMap<>();
    orders.forEach(
        (id, order) -> {
          String key = Objects.requireNonNull(order.requestId());
          confirms.put(id, publish(order.message(id, sale.skuId(), key, sale.policy())));
        });
    long deadline = publisher.confirmDeadline();
    confirms.values().removeIf(confirm -> !ConfirmingPublisher.isConfirmed(confirm, deadline));
    return confirms.keySet();
  }

  private CompletableFuture<Boolean> publish(OrderMessage order) {
    return publisher.publish(
        BrokerTopology.ORDERS_EXCHANGE,
        BrokerTopology.routingKey(order.orderId().partition()),
        ConfirmingPublisher.properties(order).build(),
        OrderMessageCodec.encode(order).getBytes(StandardCharsets.UTF_8));
  }

  /** Whether the order is sent again if it is lost; another one is only reported. */
  static boolean isSendable(AdmissionRecord order) {
    return !order.status().isFinal() && order.requestId() != null;
  }

  private static Repair repair(OrderId id, AdmissionRecord order, boolean sent) {
    String content = "user " + order.userId() + ", units " + order.quantity();
    return isSendable(order)
        ? Repair.of(RepairKind.ORDER_SENT_AGAIN, id, "nowhere", content, sent)
        : Repair.of(
            RepairKind.ORDER_NOT_IN_MYSQL,
            id,
            order.status(),
            content + ", request " + Objects.requireNonNullElse(order.requestId(), "unknown"),
            false);
  }
}
