package io.seckill.gateway.orders;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.batching.PendingRequest;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.support.logging.ThrottledLog;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;

/**
 * Looks up orders in MySQL for polling clients, many with one statement. An order that it has found
 * is looked up at most once a second, another one again as soon as {@link #findOrLookAgain} is
 * called. Never blocks; the waiting requests and the cached results are bounded in number.
 */
@Component
final class DatabaseLookup implements DisposableBean {

  private static final long REMEMBERED = 50_000;

  private final ThrottledLog failures =
      new ThrottledLog(LoggerFactory.getLogger(DatabaseLookup.class));
  private final StoredOrders mysql;
  private final Counter asked;
  private final RequestBatcher<Lookup> lookups;
  private final Cache<OrderId, CompletableFuture<LookupResult<StoredOrder>>> recent =
      Caffeine.newBuilder().expireAfterWrite(Duration.ofSeconds(1)).maximumSize(REMEMBERED).build();

  DatabaseLookup(
      StoredOrders mysql,
      @Qualifier("lookUpBounds") RequestBatcherProperties bounds,
      MeterRegistry meters) {
    this.mysql = mysql;
    this.lookups = new RequestBatcher<>("look-up", bounds, false, this::find);
    this.asked =
        Counter.builder("seckill.order.lookups")
            .description(
                "Orders looked up in MySQL because Redis could not answer for them, or never knew"
                    + " them")
            .register(meters);
  }

  private static final class Lookup extends PendingRequest {
    private final OrderId id;
    private final CompletableFuture<LookupResult<StoredOrder>> result = new CompletableFuture<>();

    Lookup(OrderId id) {
      this.id = id;
    }

    @Override
    public void fail(Failure failure) {
      result.complete(LookupResult.unknown());
    }
  }

  /** Returns MySQL's result for the order, up to a second old. The future never fails. */
  CompletableFuture<LookupResult<StoredOrder>> find(OrderId id) {
    Lookup mine = new Lookup(id);
    CompletableFuture<LookupResult<StoredOrder>> shared = recent.get(id, key -> mine.result);
    if (shared == mine.result) {
      asked.increment();
      lookups.submit(mine);
    }
    return shared;
  }

  /** As {@link #find}, but that MySQL does not have the order is as of a lookup that begins now. */
  CompletableFuture<LookupResult<StoredOrder>> findOrLookAgain(OrderId id) {
    CompletableFuture<LookupResult<StoredOrder>> last = recent.getIfPresent(id);
    if (last != null && !hasFound(last)) {
      recent.asMap().remove(id, last); // to compute it anew would count as written, and keep it
    }
    return find(id);
  }

  private static boolean hasFound(CompletableFuture<LookupResult<StoredOrder>> lookup) {
    return lookup.isDone() && lookup.join().order().isPresent();
  }

  /** Drops the cached result of an order that has just been changed through this gateway. */
  void forget(OrderId id) {
    recent.invalidate(id);
  }

  private void find(List<Lookup> batch) {
    try {
      Map<OrderId, StoredOrder> found = mysql.find(batch.stream().map(one -> one.id).toList());
      batch.forEach(one -> one.result.complete(LookupResult.of(found.get(one.id))));
    } catch (DataAccessException e) {
      failures.warn("orders were not looked up in mysql", e); // the batcher fails them
    }
  }

  @Override
  public void destroy() {
    lookups.close();
  }
}
