package io.seckill.gateway.testing;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import java.time.Instant;

/** A row of an open sale of Redis, ten units, at most five per user; tests say what differs. */
public final class TestProductRow {

  private final long sku;
  private long stock = 10;
  private Decider decides = Decider.REDIS;
  private Instant opensAt = Instant.EPOCH;
  private Instant closesAt = Instant.parse("9999-01-01T00:00:00Z");
  private SaleState state = SaleState.OPEN;
  private long epoch = 1;
  private long lastSeq;
  private long settled;

  private TestProductRow(long sku) {
    this.sku = sku;
  }

  public static TestProductRow of(long sku) {
    return new TestProductRow(sku);
  }

  public TestProductRow stock(long units) {
    stock = units;
    return this;
  }

  public TestProductRow decides(Decider store) {
    decides = store;
    return this;
  }

  public TestProductRow times(Instant opens, Instant closes) {
    opensAt = opens;
    closesAt = closes;
    return this;
  }

  public TestProductRow state(SaleState is) {
    state = is;
    return this;
  }

  public TestProductRow epoch(long number) {
    epoch = number;
    return this;
  }

  public TestProductRow orders(long highestStored, long areSettled) {
    lastSeq = highestStored;
    settled = areSettled;
    return this;
  }

  public ProductRow row() {
    return new ProductRow(
        sku,
        "thing",
        100,
        stock,
        10,
        PurchasePolicy.LIMITED,
        5,
        decides,
        "NO",
        opensAt,
        closesAt,
        state,
        1,
        epoch,
        lastSeq,
        settled,
        1,
        0);
  }
}
