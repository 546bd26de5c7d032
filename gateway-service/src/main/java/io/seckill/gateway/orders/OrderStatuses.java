package io.seckill.gateway.orders;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.Decider;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.orders.OrderStatuses.Status.None;
import io.seckill.gateway.security.RateLimits;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * The status of an order, for its owner: normally from one read of Redis; from MySQL when its id
 * says that MySQL decided it, or when Redis does not have it, does not answer, or has reported it
 * as queued for suspiciously long, so that a lost result never leaves a shopper waiting;
 * reconciliation writes it to Redis.
 *
 * <p>An id that this gateway does not remember as this user's order costs a lookup in each SKU of
 * its partition and three MySQL statements that other lookups share; the number of such lookups
 * that find nothing is bounded per user.
 */
@Component
public class OrderStatuses {

  private static final long ORDERS_REMEMBERED = 100_000;

  /** Age from which a QUEUED order is looked up in MySQL; most are stored within a second. */
  private static final long STALE_AFTER_MS = 2_000;

  private final RedisOrders redis;
  private final DatabaseLookup mysql;
  private final RateLimits limits;
  private final PaymentTimeout paymentTimeout;
  private final ProductCache products;
  private final SettleRates rates = new SettleRates();
  private final Cache<OrderId, Found> found =
      Caffeine.newBuilder().maximumSize(ORDERS_REMEMBERED).build();

  OrderStatuses(
      RedisOrders redis,
      DatabaseLookup mysql,
      RateLimits limits,
      PaymentTimeout paymentTimeout,
      ProductCache products) {
    this.redis = redis;
    this.mysql = mysql;
    this.limits = limits;
    this.paymentTimeout = paymentTimeout;
    this.products = products;
  }

  /** Owner and SKU of an order that Redis had; neither changes. */
  private record Found(long userId, long skuId) {}

  sealed interface Status {
    /** Throws ProblemException 404, 429 or 503 when there is no order to show. */
    OrderView order();

    /** The order, which belongs to the caller. */
    record Known(OrderView order) implements Status {}

    /** No order is shown. */
    enum None implements Status {
      /** There is no such order, or it is another user's; callers cannot see the difference. */
      NOT_FOUND(ProblemCode.UNKNOWN_ORDER),
      /** This user has queried too many ids of orders that were not found. */
      TOO_MANY(ProblemCode.TOO_MANY_REQUESTS),
      /** No store has such an order of this user, but Redis may have lost it. */
      UNPROVEN(ProblemCode.STATUS_UNAVAILABLE),
      /** A store that may have the order did not answer. */
      UNAVAILABLE(ProblemCode.STATUS_UNAVAILABLE);

      final ProblemCode code;

      None(ProblemCode code) {
        this.code = code;
      }

      @Override
      public OrderView order() {
        throw ProblemException.of(code);
      }
    }
  }

  /**
   * Never blocks; the future never fails. A search for an order that may be lost counts, like one
   * for an invented id: its owner gets 503 for it, and 429 once these are too many.
   */
  CompletableFuture<Status> of(OrderId id, long userId) {
    Long sku = rememberedSku(id, userId);
    if (sku != null) {
      return look(id, userId, sku);
    }
    if (!limits.admitsSearch(userId)) {
      return CompletableFuture.completedFuture(None.TOO_MANY);
    }
    return look(id, userId, null)
        .whenComplete(
            (status, failure) -> {
              if (status instanceof Status.Known || status == None.UNAVAILABLE) {
                limits.found(userId);
              }
            });
  }

  /**
   * The status of a shopper's order; null when it cannot be determined at the moment. Never blocks;
   * the future never fails.
   */
  public CompletableFuture<@Nullable OrderStatus> statusOf(OrderId id, long userId) {
    return of(id, userId)
        .thenApply(status -> status instanceof Status.Known known ? known.order().status() : null);
  }

  /** Remembers the SKU, or the shard, of an order that is answered as queued, for its queries. */
  public void queued(OrderId id, long userId, long skuId) {
    found.put(id, new Found(userId, skuId));
  }

  /** Whether a query for this order would exceed the user's limit of queries that find nothing. */
  boolean isOneTooMany(OrderId id, long userId) {
    if (rememberedSku(id, userId) != null) {
      return false;
    }
    boolean admitted = limits.admitsSearch(userId);
    if (admitted) {
      limits.found(userId);
    }
    return !admitted;
  }

  private @Nullable Long rememberedSku(OrderId id, long userId) {
    Found before = found.getIfPresent(id);
    return before != null && before.userId() == userId ? before.skuId() : null;
  }

  private CompletableFuture<Status> look(OrderId id, long userId, @Nullable Long sku) {
    if (id.isDecidedByMySql()) {
      return mysql.find(id).thenApply(stored -> fromMySql(stored, userId, None.NOT_FOUND));
    }
    return redis
        .read(id, userId, sku)
        .thenCompose(
            inRedis ->
                inRedis
                    .order()
                    .map(order -> fromRedis(order, userId))
                    .orElseGet(
                        () -> {
                          None ifAbsent = ifAbsent(inRedis);
                          return mysql
                              .findOrLookAgain(id)
                              .thenApply(stored -> fromMySql(stored, userId, ifAbsent));
                        }));
  }

  OrderView view(StoredOrder order) {
    return OrderView.of(order, paymentTimeout);
  }

  OrderView view(RedisOrder order) {
    return OrderView.of(order, rates, paymentTimeout);
  }

  /** Drops the cached result of an order that has changed. */
  void changed(OrderId id) {
    mysql.forget(id);
  }

  private CompletableFuture<Status> fromRedis(RedisOrder order, long userId) {
    found.put(order.id(), new Found(userId, order.skuId()));
    rates.read(order.skuId(), order.settled(), order.nowMs());
    Status asRedisSays = new Status.Known(view(order));
    if (!isDoubtful(order)) {
      return CompletableFuture.completedFuture(asRedisSays);
    }
    return mysql
        .find(order.id())
        .thenApply(
            answer ->
                answer
                    .order()
                    .filter(stored -> stored.userId() == userId)
                    .map(stored -> newer(order, stored, asRedisSays))
                    .orElse(
                        isAlias(order) || (!answer.known() && isOutdated(order))
                            ? None.UNAVAILABLE
                            : asRedisSays));
  }

  /** Whether MySQL may have a newer status: while it decides, Redis gets none. */
  private boolean isOutdated(RedisOrder order) {
    return products.decides(order.skuId()) == Decider.MYSQL && !order.record().status().isFinal();
  }

  /**
   * For an alias only MySQL has the result of the request's first order, and a cached answer of
   * MySQL may be slightly older than the alias. The REJECTED in Redis belongs to the second order
   * and would be a wrong refusal.
   */
  private static boolean isAlias(RedisOrder order) {
    return order.record().storedOrderId() != null;
  }

  /**
   * True for results that may have been lost on the way to Redis, for aliases, which only MySQL
   * resolves, and while MySQL decides a sale of Redis: Redis then learns of no change.
   */
  private boolean isDoubtful(RedisOrder order) {
    if (isAlias(order) || products.decides(order.skuId()) == Decider.MYSQL) {
      return true;
    }
    AdmissionRecord record = order.record();
    return switch (record.status()) {
      case QUEUED ->
          order.ageMs() > staleAfterMs(order)
              && products.mayHaveStored(order.skuId(), record.seq());
      case DELAYED -> true;
      case CONFIRMED -> isOverdue(order);
      case PAID, CANCELLED, EXPIRED, REJECTED -> false;
    };
  }

  /**
   * False while the payment time-out is not known: it comes from MySQL, which has not answered yet.
   */
  private boolean isOverdue(RedisOrder order) {
    long ageMs = order.nowMs() - order.record().changedAt();
    return paymentTimeout.latest().filter(timeout -> ageMs > timeout.toMillis()).isPresent();
  }

  private long staleAfterMs(RedisOrder order) {
    long expectedMs = rates.expectedMs(order.skuId(), order.position());
    return Math.max(STALE_AFTER_MS, 2 * expectedMs);
  }

  /** An alias is shown as the stored order; of two equal results MySQL's has the right time. */
  private Status newer(RedisOrder inRedis, StoredOrder stored, Status asRedisSays) {
    boolean alias = !stored.id().equals(inRedis.id());
    return alias || !inRedis.record().status().replaces(stored.status())
        ? new Status.Known(view(stored))
        : asRedisSays;
  }

  /**
   * For an order that MySQL does not have either. A queued order is only in Redis: unless Redis has
   * had all of them, "not found" would be a guess. In a fallback it is not expected to answer, and
   * the search counts.
   */
  private None ifAbsent(LookupResult<RedisOrder> inRedis) {
    if (products.isInFallback()) {
      return None.UNPROVEN;
    } else if (!inRedis.answered()) {
      return None.UNAVAILABLE;
    }
    return inRedis.known() ? None.NOT_FOUND : None.UNPROVEN;
  }

  /** Another user's order is absent: whether it exists is not shown. */
  private Status fromMySql(LookupResult<StoredOrder> inMySql, long userId, None ifAbsent) {
    return inMySql
        .order()
        .filter(order -> order.userId() == userId)
        .<Status>map(order -> new Status.Known(view(order)))
        .orElse(inMySql.known() ? ifAbsent : None.UNAVAILABLE);
  }
}
