package io.seckill.gateway.fallback;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.sale.FallbackMode;
import io.seckill.gateway.fallback.Promises.SentHeartbeat;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Promises for tests of other features, without a fallback, or with one that a test switches. */
public final class TestPromises {

  private final PromisedOrders orders = new PromisedOrders();
  private final AtomicBoolean ofRedis = new AtomicBoolean(true);
  private final Promises promises;

  private TestPromises(FallbackMode mode) {
    promises =
        new Promises(
            mode,
            (sku, term) -> ofRedis.get(),
            orders,
            System::nanoTime,
            System::currentTimeMillis);
    promises.heard(sent(promises, System.nanoTime(), 0), null);
  }

  /** A heartbeat that is sent now, by the wall clock. */
  static SentHeartbeat sent(Promises promises, long nanos, long term) {
    return new SentHeartbeat(nanos, System.currentTimeMillis(), term, promises.transferred());
  }

  public static Promises withoutFallback() {
    return new TestPromises(FallbackMode.OFF).promises;
  }

  public static TestPromises withFallback() {
    return new TestPromises(FallbackMode.MANUAL);
  }

  public Promises promises() {
    return promises;
  }

  /** From now on MySQL decides. */
  public void begin() {
    ofRedis.set(false);
  }

  /** What would be transferred. */
  public List<OrderMessage> remembered() {
    return orders.content().orders();
  }

  /** Units that Redis has reported as admitted, of its first SKU. */
  public long admittedUnits() {
    return orders.content().admitted().get(0).units();
  }
}
