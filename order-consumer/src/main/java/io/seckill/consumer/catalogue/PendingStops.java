package io.seckill.consumer.catalogue;

import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.internal.AuditLog;
import io.seckill.consumer.internal.Operator;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Brings the stops of operators from the store that has them to the one that was away. A stop that
 * Redis has noted goes to MySQL here and nowhere else; a stop that MySQL has goes to Redis.
 */
@Component
class PendingStops {

  private static final Logger log = LoggerFactory.getLogger(PendingStops.class);

  private final Products products;
  private final SaleStates states;
  private final TransactionOperations transactions;
  private final AuditLog audit;
  private final Clock clock;

  PendingStops(
      Products products,
      SaleStates states,
      TransactionOperations transactions,
      AuditLog audit,
      Clock clock) {
    this.products = products;
    this.states = states;
    this.transactions = transactions;
    this.audit = audit;
    this.clock = clock;
  }

  /** What MySQL has made of a stop: the row of the sale, if there is one. */
  private record Taken(PendingStop stop, Optional<ProductRow> row) {}

  /**
   * Brings the stop of a sale that waits in Redis to MySQL, and ends it there. One that MySQL's
   * state does not allow ends, too: such a sale does not run.
   *
   * <p>The stop is read while the row is locked, and removed before anybody may open the sale. So
   * one that is still there was not followed by an opening, and a late process never stops a sale
   * that was resumed since.
   *
   * @throws JedisException when Redis cannot tell, or the end of the stop is not known
   */
  void carry(long skuId) {
    if (states.pendingStop(skuId).isEmpty()) {
      return;
    }
    Optional<Taken> taken = transactions.execute(tx -> take(skuId));
    if (taken != null) {
      taken.ifPresent(this::end);
    }
  }

  private Optional<Taken> take(long skuId) {
    Optional<Product> locked = products.lock(skuId);
    return states
        .pendingStop(skuId)
        .map(stop -> new Taken(stop, locked.map(product -> move(product, stop))));
  }

  private ProductRow move(Product product, PendingStop stop) {
    SaleState target = SaleState.valueOf(stop.state());
    products.move(product.skuId(), target, product.stateVersion() + 1, SaleState.before(target));
    return products.findBySkuId(product.skuId()).orElseThrow(Catalogue::unknown).row();
  }

  private void end(Taken taken) {
    PendingStop stop = taken.stop();
    ProductRow row = taken.row().orElse(null);
    if (row == null) {
      states.follow(stop.skuId(), stop.state(), 0, 0, stop);
    } else {
      states.follow(row.skuId(), row.state().name(), row.epoch(), row.stateVersion(), stop);
    }
  }

  /**
   * Makes Redis follow a stop that MySQL has.
   *
   * @return false when Redis does not answer; {@link #sweep} makes it follow later
   */
  boolean follow(ProductRow row) {
    try {
      states.follow(row.skuId(), row.state().name(), row.epoch(), row.stateVersion(), null);
      return true;
    } catch (JedisException e) {
      log.warn("sku {} is {} in MySQL; Redis follows later: {}", row.skuId(), row.state(), e);
      return false;
    }
  }

  /** Looks for what one of the stores has missed. */
  void sweep() {
    for (PendingStop stop : states.pendingStops()) {
      audit.audited(
          new Operator(stop.operator()),
          "stop",
          "sku=" + stop.skuId(),
          () -> {
            carry(stop.skuId());
            return stop;
          },
          done -> "state=" + done.state() + " asked=" + done.askedAt());
    }
    List<ProductRow> stopped =
        products.findStopped(clock.instant()).stream().map(Product::row).toList();
    for (ProductRow row : stopped) {
      if (!follow(row)) {
        return;
      }
    }
  }
}
