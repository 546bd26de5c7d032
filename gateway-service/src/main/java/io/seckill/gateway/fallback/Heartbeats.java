package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.FallbackMode;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreaker.Health;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.PromisedOrders.Admitted;
import io.seckill.gateway.fallback.PromisedOrders.Content;
import io.seckill.support.thread.RepeatingTask;
import io.seckill.support.web.ProductRow;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import tools.jackson.databind.JsonNode;

/**
 * Tells order-consumer twice a second what this gateway finds of Redis, learns when a fallback
 * begins, and then hands over the orders that were promised. A second thread hands over, so that a
 * long handover delays no heartbeat.
 */
final class Heartbeats implements AutoCloseable {

  static final Duration PAUSE = Duration.ofMillis(500);

  private static final Logger log = LoggerFactory.getLogger(Heartbeats.class);
  private static final int MOST_IN_CALL = 100;

  /** A round of look-ups must not take MySQL from the orders. */
  private static final int MOST_LOOKED_UP = 5_000;

  private final String token = UUID.randomUUID().toString().replace("-", "");
  private final String name;
  private final FallbackMode mode;
  private final ConsumerClient consumer;
  private final RedisBreaker breaker;
  private final ProductCache products;
  private final Promises promises;
  private final PromisedOrders orders;
  private final StoredIds stored;
  private final AtomicBoolean failing = new AtomicBoolean();
  private final RepeatingTask beating;
  private final RepeatingTask handingOver;

  /** The term of the last heartbeat that was answered: order-consumer waits for its handover. */
  private volatile long answeredTerm;

  /**
   * @param name shown to operators
   */
  Heartbeats(
      String name,
      FallbackMode mode,
      ConsumerClient consumer,
      RedisBreaker breaker,
      ProductCache products,
      Promises promises,
      PromisedOrders orders,
      StoredIds stored) {
    this.name = name;
    this.mode = mode;
    this.consumer = consumer;
    this.breaker = breaker;
    this.products = products;
    this.promises = promises;
    this.orders = orders;
    this.stored = stored;
    this.beating = new RepeatingTask("heartbeat", PAUSE, this::beat);
    this.handingOver = new RepeatingTask("handover", PAUSE, this::handOver);
  }

  private void beat() {
    promises.begins(products.term());
    long sentNanos = System.nanoTime();
    long sentTerm = promises.term();
    try {
      JsonNode answer = consumer.heartbeat(token, body()).body();
      learn(answer);
      if (!promises.isHeard()) {
        promises.handedOver(0); // order-consumer may have forgotten this gateway
      }
      promises.heard(sentNanos);
      answeredTerm = sentTerm;
      if (failing.getAndSet(false)) {
        log.info("order-consumer answers heartbeats again");
      }
    } catch (RuntimeException e) { // an exception would end the schedule
      if (!failing.getAndSet(true)) {
        log.warn("order-consumer answers no heartbeats: {}", e.toString());
      }
    }
  }

  private Map<String, Object> body() {
    Health health = breaker.health();
    return Map.of(
        "name", name,
        "fallback", mode.name().toLowerCase(Locale.ROOT),
        "term", promises.term(),
        "redis", health.usable() ? "USABLE" : "UNUSABLE",
        "forMs", health.since().toMillis(),
        "breaker", health.state(),
        "failurePercent", health.failurePercent(),
        "failuresPerSecond", health.failuresPerSecond());
  }

  private void learn(JsonNode answer) {
    long term = answer.path("term").longValue();
    if (term > promises.term()) {
      promises.begins(term);
      products.readSoon();
    }
    breaker.thresholds(
        answer.path("failurePercent").intValue(), answer.path("failuresPerSecond").intValue());
  }

  /** Also forgets what MySQL has. */
  private void handOver() {
    try {
      long term = answeredTerm;
      if (mode.isOn() && term > promises.handedOver()) {
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
        token,
        Map.of(
            "term", term,
            "orders", some.stream().map(Heartbeats::json).toList(),
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
                all.stream().filter(Heartbeats::isSettled).forEach(p -> atRest.put(p.skuId(), p)));
    boolean isHalfFull = orders.size() > PromisedOrders.MOST / 2;
    List<OrderId> candidates =
        orders.find(order -> isHalfFull || isAtRest(order, atRest.get(order.skuId())));
    inParts(
        candidates.subList(0, Math.min(candidates.size(), MOST_LOOKED_UP)),
        part -> orders.forget(stored.among(part)));
  }

  private static boolean isSettled(ProductRow product) {
    return product.decides() == Decider.REDIS && product.settled() >= product.lastSeq();
  }

  private static boolean isAtRest(OrderMessage order, @Nullable ProductRow product) {
    return product != null && order.seq() <= product.lastSeq();
  }

  /** Looks up which orders MySQL has. */
  @FunctionalInterface
  interface StoredIds {

    /**
     * @param ids at most {@value Heartbeats#MOST_IN_CALL}
     * @throws DataAccessException when MySQL does not answer
     */
    List<OrderId> among(List<OrderId> ids);
  }

  @Override
  public void close() {
    beating.close();
    handingOver.close();
  }
}
