package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.Decider;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.PromisedOrders.Admitted;
import io.seckill.gateway.fallback.PromisedOrders.Content;
import io.seckill.support.thread.RepeatingTask;
import io.seckill.support.web.ProductRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/**
 * Hands over the promised orders once for each term, and forgets those that MySQL has. On a thread
 * of its own, so that a long handover delays no heartbeat.
 */
final class PromiseHandover implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(PromiseHandover.class);
  private static final int MOST_IN_CALL = 100;

  /** A round of look-ups must not take MySQL from the orders. */
  private static final int MOST_LOOKED_UP = 5_000;

  private final ConsumerClient consumer;
  private final ProductCache products;
  private final Promises promises;
  private final PromisedOrders orders;
  private final StoredIds stored;
  private final RepeatingTask task;

  PromiseHandover(
      ConsumerClient consumer,
      ProductCache products,
      Promises promises,
      PromisedOrders orders,
      StoredIds stored) {
    this.consumer = consumer;
    this.products = products;
    this.promises = promises;
    this.orders = orders;
    this.stored = stored;
    this.task = new RepeatingTask("handover", Heartbeats.PAUSE, this::round);
  }

  private void round() {
    try {
      long term = promises.awaitedTerm();
      if (promises.mustRemember() && term > promises.handedOver()) {
        send(term, orders.content());
        promises.handedOver(term);
      }
      forgetStored();
    } catch (RuntimeException e) { // an exception would end the schedule
      log.warn("promised orders are kept: {}", e.toString());
    }
  }

  private void send(long term, Content content) {
    List<OrderMessage> all = content.orders();
    inParts(all, part -> call(term, part, List.of(), false, false));
    inParts(content.admitted(), part -> call(term, List.of(), part, false, false));
    call(term, List.of(), List.of(), true, content.complete());
    orders.handedOver(content);
    log.info("term {}: {} promised orders handed over", term, all.size());
  }

  private static <T> void inParts(List<T> all, Consumer<List<T>> call) {
    for (int from = 0; from < all.size(); from += MOST_IN_CALL) {
      call.accept(all.subList(from, Math.min(all.size(), from + MOST_IN_CALL)));
    }
  }

  private void call(
      long term,
      List<OrderMessage> some,
      List<Admitted> admitted,
      boolean isLast,
      boolean isComplete) {
    consumer.handOver(
        Map.of(
            "term", term,
            "orders", some.stream().map(PromiseHandover::json).toList(),
            "admitted", admitted,
            "isLast", isLast,
            "isComplete", isComplete));
  }

  private static Map<String, Object> json(OrderMessage order) {
    return Map.of(
        "orderId", order.orderId().toString(),
        "userId", order.userId(),
        "skuId", order.skuId(),
        "quantity", order.quantity(),
        "requestId", order.requestId(),
        "policy", order.policy().name(),
        "epoch", order.epoch(),
        "seq", order.seq(),
        "admittedAt", order.admittedAt());
  }

  /**
   * Asks MySQL only about sales of which everything seems to be stored, so that no sale at its peak
   * is delayed, or about all when the memory is half full.
   */
  private void forgetStored() {
    Map<Long, ProductRow> atRest = new HashMap<>();
    products
        .lastRead()
        .ifPresent(
            all ->
                all.stream()
                    .filter(PromiseHandover::isSettled)
                    .forEach(p -> atRest.put(p.skuId(), p)));
    orders.forgetDropped((sku, seq) -> isAtRest(seq, atRest.get(sku)));
    boolean isHalfFull = orders.size() > PromisedOrders.MOST / 2;
    List<OrderId> candidates =
        orders.find(order -> isHalfFull || isAtRest(order.seq(), atRest.get(order.skuId())));
    inParts(
        candidates.subList(0, Math.min(candidates.size(), MOST_LOOKED_UP)),
        part -> orders.lookedUp(part, stored.among(part)));
  }

  private static boolean isSettled(ProductRow product) {
    return product.decides() == Decider.REDIS && product.settled() >= product.lastSeq();
  }

  private static boolean isAtRest(long seq, @Nullable ProductRow product) {
    return product != null && seq <= product.lastSeq();
  }

  /** Looks up which orders MySQL has. */
  @FunctionalInterface
  interface StoredIds {

    /**
     * @param ids at most {@value PromiseHandover#MOST_IN_CALL}
     * @throws DataAccessException when MySQL does not answer
     */
    List<OrderId> among(List<OrderId> ids);
  }

  @Override
  public void close() {
    task.close();
  }
}
