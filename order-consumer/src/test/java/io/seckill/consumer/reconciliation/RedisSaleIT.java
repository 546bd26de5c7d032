package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.testing.AdmittedSale;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.AbstractPipeline;

class RedisSaleIT extends ReconciliationFixture {

  private static final int ORDERS = 10_000;

  private final RedisSale redis = consumer.bean(RedisSale.class);

  @Test
  void readsASaleInPartsOfLimitedSizeAlthoughMostOfItsUnitsWereAdded() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    sale.forget();
    assertThat(outcome(reconcile(sale, false))).isEqualTo("REBUILT");
    int buckets = Integer.parseInt(sale.field("bucketCount"));
    consumer.update(
        "UPDATE products SET initial_stock = initial_stock + ? WHERE sku_id = ?", ORDERS, sale.sku);
    ProductSnapshot product = ProductRows.find(consumer.sql(), sale.sku).orElseThrow();
    addOrders(sale.sku, buckets);

    List<Integer> parts = new ArrayList<>();
    Set<OrderId> orders = new HashSet<>();
    for (int from = 0, to; from < buckets; from = to + 1) {
      to = RedisSale.lastOfPart(product, from, buckets);
      RedisPart part = redis.part(sale.sku, from, to);
      parts.add(part.records().size());
      orders.addAll(part.records().keySet());
    }

    String encoding = consumer.redis().objectEncoding(RedisKeys.bucket(sale.sku, 1));
    sale.forget();

    assertThat(parts).allMatch(size -> size <= 7_500);
    assertThat(orders).hasSize(ORDERS);
    assertThat(encoding).as("a bucket is read at once").isEqualTo("listpack");
  }

  /** As a process does that stood still before the removal while others prepared the sale anew. */
  @Test
  void removesNoSaleThatHasBeenLoadedSince() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    ProductSnapshot old = ProductRows.find(consumer.sql(), sale.sku).orElseThrow();
    String[] keys = {RedisKeys.sku(sale.sku), RedisKeys.stock(sale.sku)};
    sale.setField("epoch", Long.toString(old.epoch() + 1));

    redis.remove(old);
    assertThat(consumer.redis().exists(keys)).isEqualTo(2);

    sale.setField("epoch", Long.toString(old.epoch()));
    redis.remove(old);
    assertThat(consumer.redis().exists(keys)).isZero();
    sale.forget();
  }

  /** Units that came back and were withdrawn again, or moved to another shard, leave the stock. */
  @Test
  void setsNoStockThatHasChangedAndIsTheSameAgain() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    ProductSnapshot product = ProductRows.find(consumer.sql(), sale.sku).orElseThrow();
    RedisSaleState seen = redis.state(sale.sku);
    consumer.redis().hincrBy(RedisKeys.sku(sale.sku), "changeSeq", 1);

    assertThat(redis.setStock(product, seen, 30)).isFalse();
    assertThat(sale.stock()).isEqualTo(28);

    assertThat(redis.setStock(product, redis.state(sale.sku), 30)).isTrue();
    assertThat(sale.stock()).isEqualTo(30);
    sale.forget();
  }

  /** A shopper's repeat sends an order again whose message the broker may not have. */
  @Test
  void countsNoOrderAsPublishedThatIsSentAgainOnceTheListsWereRead() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    OrderMessage order = sale.admit(7, 1);
    sale.admit(8, 1);
    sale.oneUnpublished(); // lost
    RedisListScan lists =
        new RedisListScan(consumer.redis()) {
          @Override
          public boolean hasNone(long skuId) {
            boolean hasNone = super.hasNone(skuId);
            sale.oneUnpublished();
            sale.outbox(order);
            return hasNone;
          }
        };
    LostOrders lost =
        new LostOrders(
            redis,
            lists,
            consumer.bean(Barriers.class),
            consumer.bean(KnownOrders.class),
            consumer.bean(ConfirmingPublisher.class));
    ProductSnapshot product = ProductRows.find(consumer.sql(), sale.sku).orElseThrow();

    List<Repair> repairs = lost.counters(product, redis.state(sale.sku), false);

    assertThat(repairs).noneMatch(Repair::made);
    assertThat(sale.field("publishedOrders")).isEqualTo("0");
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    sale.forget();
  }

  private static void addOrders(long sku, int buckets) {
    try (AbstractPipeline pipeline = consumer.redis().pipelined()) {
      for (int user = 1; user <= ORDERS; user++) {
        String id = OrderId.of(1_790_000_000_000L + user, Partition.ofSku(sku), 2, 0).toString();
        String record = user + "|1|" + user + "|1790000000000|2|Q|";
        String request = RedisKeys.requestField(user, "request-" + user);
        pipeline.hset(
            RedisKeys.bucket(sku, RedisKeys.bucketOf(user, buckets)),
            Map.of(id, record, request, id + ":1", RedisKeys.quotaField(user), "1"));
      }
      pipeline.sync();
    }
  }
}
