package io.seckill.gateway.orders;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.limits.RateLimits;
import io.seckill.gateway.stores.BlockingCalls;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Where an order stands, for its owner: by one read of Redis while that is right, by MySQL when
 * Redis has nothing, does not answer, or has called the order queued for suspiciously long. What
 * MySQL knew better is written back to Redis, so that a lost result never leaves a shopper waiting.
 *
 * <p>An id that this gateway has not met costs a look at each SKU of its partition and three
 * statements of MySQL that others share; how many of those a user may ask for in vain is bounded.
 */
@Component
final class OrderStatuses {

  private static final long SKUS_REMEMBERED = 100_000;

  private final RedisOrders redis;
  private final DatabaseLookup mysql;
  private final BlockingCalls redisCalls;
  private final RateLimits limits;
  private final OrderProperties settings;
  private final PaymentTimeout paymentTimeout;
  private final Cache<OrderId, Long> skus =
      Caffeine.newBuilder().maximumSize(SKUS_REMEMBERED).build();

  OrderStatuses(
      RedisOrders redis,
      DatabaseLookup mysql,
      @Qualifier("redisCalls") BlockingCalls redisCalls,
      RateLimits limits,
      OrderProperties settings,
      PaymentTimeout paymentTimeout) {
    this.redis = redis;
    this.mysql = mysql;
    this.redisCalls = redisCalls;
    this.limits = limits;
    this.settings = settings;
    this.paymentTimeout = paymentTimeout;
  }

  /** What there is to say about an order. */
  sealed interface Status {
    /** Its owner asked, and this is it. */
    record Known(OrderView order) implements Status {}

    /** Nobody's, or somebody else's; the difference is not told. */
    record NotFound() implements Status {}

    /** Too many ids of this user belonged to nobody. */
    record TooMany() implements Status {}

    /** Neither store answered. */
    record Unavailable() implements Status {}
  }

  private static final Status NOT_FOUND = new Status.NotFound();
  private static final Status TOO_MANY = new Status.TooMany();
  private static final Status UNAVAILABLE = new Status.Unavailable();

  /** Never blocks; the future never fails. */
  CompletableFuture<Status> of(OrderId id, long userId) {
    Long sku = skus.getIfPresent(id);
    if (sku != null) {
      return look(id, userId, sku);
    }
    if (!limits.admitsSearch(userId)) {
      return CompletableFuture.completedFuture(TOO_MANY);
    }
    return look(id, userId, null)
        .whenComplete(
            (status, failure) -> {
              if (!(status instanceof Status.NotFound)) {
                limits.found(userId);
              }
            });
  }

  /** Whether asking for this order would be one of too many in vain. */
  boolean isOneTooMany(OrderId id, long userId) {
    if (skus.getIfPresent(id) != null) {
      return false;
    }
    boolean admitted = limits.admitsSearch(userId);
    if (admitted) {
      limits.found(userId);
    }
    return !admitted;
  }

  private CompletableFuture<Status> look(OrderId id, long userId, @Nullable Long sku) {
    return redis
        .read(id, userId, sku)
        .thenCompose(
            answer -> {
              if (answer instanceof RedisOrders.Answer.Found found
                  && found.order().record().userId() == userId) {
                return hot(found.order(), userId);
              }
              boolean redisIsSilent = answer instanceof RedisOrders.Answer.Unavailable;
              return mysql.find(id).thenApply(stored -> cold(stored, userId, redisIsSilent));
            });
  }

  /** An order as MySQL shows it. */
  OrderView view(StoredOrder order) {
    boolean confirmed = order.status() == OrderStatus.CONFIRMED;
    return new OrderView(
        order.id(),
        order.skuId(),
        order.quantity(),
        order.status(),
        order.reason(),
        null,
        null,
        order.admittedAt(),
        order.updatedAt(),
        confirmed ? payBy(order.createdAt()) : null);
  }

  /** An order as Redis shows it. */
  OrderView view(RedisOrder order) {
    AdmissionRecord record = order.record();
    boolean queued = record.status() == OrderStatus.QUEUED;
    long waitMs = queued ? order.expectedWaitMs(settings.rateMaxAge().toMillis()) : -1;
    Instant changedAt = Instant.ofEpochMilli(record.changedAt());
    return new OrderView(
        order.id(),
        order.skuId(),
        record.quantity(),
        record.status(),
        record.reason(),
        queued ? order.position() : null,
        waitMs < 0 ? null : (waitMs + 999) / 1000,
        Instant.ofEpochMilli(record.admittedAt()),
        changedAt,
        record.status() == OrderStatus.CONFIRMED ? payBy(changedAt) : null);
  }

  /** Null while the payment time-out is not known. */
  private @Nullable Instant payBy(Instant confirmedAt) {
    return paymentTimeout.latest().map(confirmedAt::plus).orElse(null);
  }

  /** What was said of this order is no longer true. */
  void changed(OrderId id) {
    mysql.forget(id);
  }

  private CompletableFuture<Status> hot(RedisOrder order, long userId) {
    skus.put(order.id(), order.skuId());
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
                    .map(stored -> better(order, stored, asRedisSays))
                    .orElse(isAlias(order) ? UNAVAILABLE : asRedisSays));
  }

  /**
   * What became of the first order of the request is MySQL's to say; what it was last asked may be
   * a moment older than the alias. Redis's REJECTED is of the second order, and would be a false
   * no.
   */
  private static boolean isAlias(RedisOrder order) {
    return order.record().storedOrderId() != null;
  }

  /** Results that may have been lost on the way to Redis, and aliases, which only MySQL follows. */
  private boolean isDoubtful(RedisOrder order) {
    if (isAlias(order)) {
      return true;
    }
    AdmissionRecord record = order.record();
    return switch (record.status()) {
      case QUEUED -> order.ageMs() > staleAfterMs(order);
      case DELAYED -> true;
      case CONFIRMED -> isOverdue(order);
      case PAID, CANCELLED, EXPIRED, REJECTED -> false;
    };
  }

  /** MySQL is not asked while the payment time-out is not known: it is MySQL that has not told. */
  private boolean isOverdue(RedisOrder order) {
    long ageMs = order.nowMs() - order.record().changedAt();
    return paymentTimeout.latest().filter(timeout -> ageMs > timeout.toMillis()).isPresent();
  }

  private long staleAfterMs(RedisOrder order) {
    long expectedMs = order.expectedWaitMs(settings.rateMaxAge().toMillis());
    return Math.max(settings.staleAfter().toMillis(), 2 * expectedMs);
  }

  private Status better(RedisOrder hot, StoredOrder stored, Status asRedisSays) {
    boolean alias = !stored.id().equals(hot.id());
    if (alias) {
      writeBack(hot, stored);
      return new Status.Known(view(stored));
    }
    if (!stored.status().replaces(hot.record().status())) {
      return asRedisSays;
    }
    writeBack(hot, stored);
    return new Status.Known(view(stored));
  }

  /** Not waited for: when it fails, the next poll finds the same and tries again. */
  private void writeBack(RedisOrder hot, StoredOrder stored) {
    AdmissionRecord seen = hot.record();
    boolean alias = !stored.id().equals(hot.id());
    OrderStatus status = alias ? OrderStatus.REJECTED : stored.status();
    if (!status.replaces(seen.status())) {
      return;
    }
    AdmissionRecord known =
        new AdmissionRecord(
            seen.userId(),
            seen.requestId(),
            seen.quantity(),
            seen.seq(),
            seen.admittedAt(),
            seen.epoch(),
            status,
            alias ? null : stored.reason(),
            stored.updatedAt().toEpochMilli(),
            alias ? stored.id() : null);
    redisCalls.call(() -> redis.writeBack(hot, known.format())).onErrorComplete().subscribe();
  }

  private Status cold(DatabaseLookup.Answer answer, long userId, boolean redisIsSilent) {
    if (answer.order().isPresent()) {
      StoredOrder order = answer.order().get();
      return order.userId() == userId ? new Status.Known(view(order)) : NOT_FOUND;
    }
    // An order that is still queued is nowhere but in Redis: without Redis, "not found" is a guess.
    return answer.known() && !redisIsSilent ? NOT_FOUND : UNAVAILABLE;
  }
}
