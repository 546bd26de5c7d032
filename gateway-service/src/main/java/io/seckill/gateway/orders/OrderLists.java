package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.catalogue.ProductCache;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.ser.std.ToStringSerializer;

/**
 * A user's orders, newest first: stored ones from MySQL and waiting ones from Redis. Fails when
 * either store is unavailable, because the list would lack orders; without Redis only if it may
 * have some, which it has not where all sales are strong, and if there is no fallback: gateways
 * have transferred to MySQL what they had promised, so the list is shown, and says that it may lack
 * some.
 */
@Component
record OrderLists(
    WaitingOrders redis,
    StoredOrders mysql,
    OrderStatuses statuses,
    @Qualifier("mysqlCalls") BlockingCalls mysqlCalls,
    ProductCache products) {

  private static final JsonMapper JSON = JsonMapper.shared();

  /**
   * One page.
   *
   * @param next id of the last order when older ones follow it
   * @param complete false when waiting orders may be missing, because a bucket of the user is too
   *     large to be read, Redis may have lost them, or MySQL decides for Redis meanwhile
   */
  record Page(
      List<OrderView> orders,
      @JsonSerialize(using = ToStringSerializer.class) @Nullable OrderId next,
      boolean complete) {

    String json() {
      return JSON.writeValueAsString(this);
    }
  }

  /** A page of at most {@code limit} orders, 1..100, with ids below {@code before}. */
  Mono<Page> page(long userId, long before, int limit) {
    // Redis first: an order that is stored in between is then found twice, not missed.
    return Mono.fromFuture(redis.of(userId))
        .onErrorResume(this::withoutRedis)
        .flatMap(
            waiting ->
                mysqlCalls
                    .call(() -> mysql.ofUser(userId, before, limit + 1))
                    .map(stored -> merge(waiting, stored, before, limit)));
  }

  private Mono<WaitingOrders.Found> withoutRedis(Throwable failure) {
    boolean mayHaveOrders = products.redisMayHaveOrders();
    return !mayHaveOrders || products.isInFallback()
        ? Mono.just(new WaitingOrders.Found(List.of(), !mayHaveOrders))
        : Mono.error(failure);
  }

  /** What a Redis that has answered may lack. */
  private boolean mayLackOrders() {
    return products.isInFallback() && products.redisMayHaveOrders();
  }

  private Page merge(
      WaitingOrders.Found waiting, List<StoredOrder> stored, long before, int limit) {
    Map<OrderId, OrderView> byId = new TreeMap<>(Comparator.reverseOrder());
    waiting.orders().stream()
        .filter(order -> order.id().value() < before)
        .forEach(order -> byId.put(order.id(), statuses.view(order)));
    stored.forEach(order -> byId.put(order.id(), statuses.view(order)));
    List<OrderView> orders = new ArrayList<>(byId.values());
    boolean complete = waiting.complete() && !mayLackOrders();
    return orders.size() <= limit
        ? new Page(orders, null, complete)
        : new Page(orders.subList(0, limit), orders.get(limit - 1).orderId(), complete);
  }
}
