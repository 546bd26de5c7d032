package io.seckill.consumer.testing;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ProductSnapshot;
import java.time.Duration;
import java.time.Instant;

/**
 * A row of {@code products} that no database has: an open sale of Redis, 100 units, without orders;
 * tests say what differs.
 */
public final class UnstoredProduct {

  private final long sku;
  private String state = "OPEN";
  private PurchasePolicy policy = PurchasePolicy.LIMITED;
  private SalePhase phase = SalePhase.REDIS;
  private Instant opensAt = Instant.parse("2026-01-01T00:00:00Z");
  private long epoch = 1;
  private long stock = 100;
  private long initialStock = 100;
  private long settled;
  private boolean archived;
  private int shards = 1;

  private UnstoredProduct(long sku) {
    this.sku = sku;
  }

  public static UnstoredProduct of(long sku) {
    return new UnstoredProduct(sku);
  }

  public UnstoredProduct state(String name) {
    state = name;
    return this;
  }

  public UnstoredProduct unlimited() {
    policy = PurchasePolicy.UNLIMITED;
    return this;
  }

  public UnstoredProduct opensAt(Instant time) {
    opensAt = time;
    return this;
  }

  public UnstoredProduct epoch(long number) {
    epoch = number;
    return this;
  }

  public UnstoredProduct stock(long units) {
    return stock(units, units);
  }

  public UnstoredProduct stock(long left, long initial) {
    stock = left;
    initialStock = initial;
    return this;
  }

  public UnstoredProduct settled(long orders) {
    settled = orders;
    return this;
  }

  public UnstoredProduct archived(boolean is) {
    archived = is;
    return this;
  }

  public UnstoredProduct inShards(int number) {
    phase = SalePhase.SHARDED;
    shards = number;
    return this;
  }

  public ProductSnapshot snapshot() {
    return new ProductSnapshot(
        sku,
        state,
        0,
        policy,
        5,
        phase,
        opensAt,
        Instant.parse("2036-01-01T00:00:00Z"),
        epoch,
        stock,
        initialStock,
        0,
        0,
        settled,
        false,
        true,
        archived,
        100,
        Duration.ofHours(2),
        shards);
  }
}
