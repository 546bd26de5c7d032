package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.PromiseTransfer.Admitted;
import java.time.Duration;
import java.util.Collection;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether this gateway may promise the orders that Redis has admitted
 * (docs/adr/0021-fallback.md). Without a fallback it always may. With one, a caller that admits an
 * order first records it here, then asks whether it may be promised, and then answers: so a
 * transfer that begins when nothing may be promised any more contains everything that was promised.
 * Thread-safe.
 */
public final class Promises {

  /** A gateway without an answered heartbeat for longer has promised nothing since. */
  static final Duration HEARD_WITHIN = Duration.ofSeconds(30);

  /** No product has this id, so that Redis would decide its sale. */
  private static final long NO_SKU = 0;

  private final boolean on;
  private final Products products;
  private final PromisedOrders orders;
  private final LongSupplier nanoTime;
  private final LongSupplier wallMs;
  private volatile long term;
  private volatile long transferred;
  private volatile long registration;
  private volatile long awaitedTerm;
  private volatile long heardNanos;
  private volatile long heardMs;
  private volatile boolean registered;
  private volatile boolean ended;

  /** The products as this gateway has read them. */
  @FunctionalInterface
  interface Products {

    /** Whether Redis decides the SKU, by a current read without another term. */
    boolean isOfRedis(long skuId, long term);
  }

  /**
   * A heartbeat that was answered.
   *
   * @param nanos System.nanoTime() before it was sent
   * @param wallMs System.currentTimeMillis() then
   * @param term the term in it, whose transfer order-consumer now awaits
   * @param transferred {@link #transferred} before it was sent
   */
  record SentHeartbeat(long nanos, long wallMs, long term, long transferred) {}

  /**
   * @param nanoTime stands still while the machine sleeps
   * @param wallMs does not, and may be set
   */
  Promises(
      FallbackMode mode,
      Products products,
      PromisedOrders orders,
      LongSupplier nanoTime,
      LongSupplier wallMs) {
    this.on = mode.isOn();
    this.products = products;
    this.orders = orders;
    this.nanoTime = nanoTime;
    this.wallMs = wallMs;
  }

  /** Whether MySQL may decide instead of Redis; otherwise nothing needs to be remembered. */
  public boolean mustRemember() {
    return on;
  }

  /** Whether an order that Redis has admitted of this SKU may be promised now. */
  public boolean mayConfirm(long skuId) {
    return !on || (isHeard() && transferred == term && products.isOfRedis(skuId, term));
  }

  /** Whether orders of the sales that Redis decides may be promised now. */
  public boolean mayConfirm() {
    return mayConfirm(NO_SKU);
  }

  /** Whether this gateway is registered, so that order-consumer waits for its transfer. */
  boolean isHeard() {
    return registered
        && !ended
        && nanoTime.getAsLong() - heardNanos <= HEARD_WITHIN.toNanos()
        && Math.abs(wallMs.getAsLong() - heardMs) <= HEARD_WITHIN.toMillis();
  }

  /** Redis has admitted these orders for this gateway. */
  public void remember(Collection<OrderMessage> admitted) {
    orders.add(admitted);
  }

  /**
   * Redis says how many units it has admitted of a SKU in this epoch, with the orders it was loaded
   * with.
   */
  public void admitted(long skuId, long epoch, long units) {
    orders.add(new Admitted(skuId, epoch, units));
  }

  /**
   * A heartbeat was answered. After a long silence order-consumer may have forgotten this gateway,
   * and the transfer with it; MySQL may lose a transfer, too. Only one thread calls this.
   *
   * @param inMySql the last term for which MySQL has the transfer; null when it is not known
   */
  synchronized void heard(SentHeartbeat sent, @Nullable Long inMySql) {
    boolean isLost = inMySql != null && inMySql < sent.transferred();
    if (isLost || !isHeard()) {
      registration++;
      transferred = 0;
    }
    heardNanos = sent.nanos();
    heardMs = sent.wallMs();
    registered = true;
    awaitedTerm = sent.term();
  }

  /** This gateway stops: it promises nothing any more, after any answer. */
  void end() {
    ended = true;
  }

  /** The last term whose transfer order-consumer awaits. */
  long awaitedTerm() {
    return awaitedTerm;
  }

  /**
   * A fallback has begun: nothing is promised until what was promised before is transferred, and
   * the products are read again. Only one thread calls this.
   */
  void begins(long laterTerm) {
    term = Math.max(term, laterTerm);
  }

  /** Changes when order-consumer may have forgotten what was transferred. */
  long registration() {
    return registration;
  }

  /**
   * All that was promised before this term is transferred.
   *
   * @param begunIn {@link #registration} before the transfer; in another one it does not count
   */
  synchronized void transferred(long ofTerm, long begunIn) {
    if (begunIn == registration) {
      transferred = ofTerm;
    }
  }

  long transferred() {
    return transferred;
  }

  /** The last fallback known of. */
  long term() {
    return term;
  }
}
