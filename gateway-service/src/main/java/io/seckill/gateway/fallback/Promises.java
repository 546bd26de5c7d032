package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.FallbackMode;
import io.seckill.gateway.fallback.PromisedOrders.Admitted;
import java.time.Duration;
import java.util.Collection;
import java.util.function.LongSupplier;

/**
 * Decides whether this gateway may promise what Redis has admitted (docs/adr/0021-fallback.md).
 * Without a fallback it always may. With one, whoever admits an order first remembers it here, then
 * asks whether it may be promised, and then answers: so a handover that begins when nothing may be
 * promised any more contains everything that was promised. Thread-safe.
 */
public final class Promises {

  /** A gateway that order-consumer has not heard of for longer has promised nothing since. */
  static final Duration HEARD_WITHIN = Duration.ofSeconds(30);

  private final boolean on;
  private final Products products;
  private final PromisedOrders orders;
  private final LongSupplier nanoTime;
  private volatile long term;
  private volatile long heardNanos;
  private volatile boolean registered;

  /** What this gateway has read of the products. */
  @FunctionalInterface
  interface Products {

    /** Whether Redis decides the SKU, by a current read that knows of this term. */
    boolean isOfRedis(long skuId, long term);
  }

  /**
   * @param nanoTime System.nanoTime
   */
  Promises(FallbackMode mode, Products products, PromisedOrders orders, LongSupplier nanoTime) {
    this.on = mode.isOn();
    this.products = products;
    this.orders = orders;
    this.nanoTime = nanoTime;
  }

  /** Whether MySQL may decide instead of Redis; otherwise nothing needs to be remembered. */
  public boolean mustRemember() {
    return on;
  }

  /** Whether an order that Redis has admitted of this SKU may be promised now. */
  public boolean may(long skuId) {
    return !on
        || (registered
            && nanoTime.getAsLong() - heardNanos <= HEARD_WITHIN.toNanos()
            && products.isOfRedis(skuId, term));
  }

  /** Redis has admitted these orders for this gateway. */
  public void remember(Collection<OrderMessage> admitted) {
    orders.add(admitted);
  }

  /**
   * Redis says how much it has admitted of a SKU.
   *
   * @param units in this epoch, with the orders it was loaded with
   */
  public void admitted(long skuId, long epoch, long units) {
    orders.add(new Admitted(skuId, epoch, units));
  }

  /**
   * A heartbeat was answered.
   *
   * @param sentNanos System.nanoTime() before it was sent
   */
  void heard(long sentNanos) {
    heardNanos = sentNanos;
    registered = true;
  }

  /**
   * A fallback has begun: from now on nothing is promised by a read of the products that does not
   * know of it. Only one thread calls this.
   */
  void begins(long laterTerm) {
    term = Math.max(term, laterTerm);
  }

  /** The last fallback known of. */
  long term() {
    return term;
  }
}
