package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.reconciliation.RedisSale.Late;
import io.seckill.consumer.reconciliation.RedisSale.WrongQuota;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.UnstoredProduct;
import io.seckill.testing.RedisServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.UnifiedJedis;

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
      RedisPart part = redis.part(product, from, to);
      parts.add(part.records().size());
      orders.addAll(part.records().keySet());
    }

    String encoding = consumer.redis().objectEncoding(RedisKeys.bucket(sale.sku, 1));
    sale.forget();

    assertThat(parts).allMatch(size -> size <= 7_500);
    assertThat(orders).hasSize(ORDERS);
    assertThat(encoding).as("a bucket is read at once").isEqualTo("listpack");
  }

  /** Redis serves nobody else while it answers one command; a shopper may fill a bucket. */
  @Test
  void readsAHashOfAnySizePageByPage() {
    ProductSnapshot sale = UnstoredProduct.of(16).unlimited().epoch(3).stock(1).snapshot();
    try (RedisServer server = RedisServer.start();
        UnifiedJedis own = server.open()) {
      try (AbstractPipeline pipeline = own.pipelined()) {
        for (int n = 1; n <= 50_000; n++) {
          String id = OrderId.of(1_790_000_000_000L + n, 0, 2, 0).toString();
          pipeline.hset(
              RedisKeys.bucket(16, 1),
              Map.of(
                  id,
                  "1|1|" + n + "|1790000000000|3|Q|",
                  RedisKeys.requestField(1, "request-" + n),
                  id + ":1"));
          pipeline.hset(RedisKeys.stockChanges(16), "change-" + n, n % 2 == 0 ? "3:1:A" : "3:1:R");
        }
        pipeline.sync();
      }
      RedisSale large = new RedisSale(own);

      RedisPart part = large.part(sale, 0, 2);

      assertThat(part.records()).hasSize(50_000);
      assertThat(part.records().values()).allMatch(order -> order.requestId() != null);
      assertThat(large.changes(16, 3)).hasSize(25_000);
      assertThat(own.info("commandstats")).contains("cmdstat_hscan:").doesNotContain("hgetall");
      assertThat(hscans(own)).as("pages").isGreaterThan(200);
    }
  }

  private static int hscans(UnifiedJedis server) {
    Matcher calls = Pattern.compile("hscan:calls=(\\d+)").matcher(server.info("commandstats"));
    assertThat(calls.find()).isTrue();
    return Integer.parseInt(calls.group(1));
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

    List<Repair> repairs = lost.counters(product(sale), redis.state(sale.sku), false);

    assertThat(repairs).noneMatch(Repair::made);
    assertThat(sale.field("publishedOrders")).isEqualTo("0");
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    sale.forget();
  }

  /** It is in the outbox by now. */
  @Test
  void countsNoOrderAsPublishedThatWasAdmittedOnceTheListsWereRead() {
    AdmittedSale sale = twoOrders();
    sale.oneUnpublished();
    RedisSaleState seen = redis.state(sale.sku);
    sale.admit(8, 1);
    sale.oneUnpublished();

    assertThat(redis.setPublished(product(sale), seen)).isFalse();

    assertThat(sale.field("publishedOrders")).isEqualTo("1");
    sale.forget();
  }

  /** As a process does that stood still while others loaded the sale anew. */
  @Test
  void changesNothingOfASaleThatHasBeenLoadedSince() {
    AdmittedSale sale = twoOrders();
    ProductSnapshot old = product(sale);
    sale.setField("epoch", Long.toString(old.epoch() + 1));
    RedisSaleState seen = redis.state(sale.sku);
    Map<String, Object> before = sale.all();
    OrderMessage lost = OrderFlood.order(sale.sku, PurchasePolicy.LIMITED, 8, 1);

    assertThat(redis.setStock(old, seen, 1)).isFalse();
    assertThat(redis.setPublished(old, seen)).isFalse();
    assertThat(redis.setQuotas(old, 0, List.of(new WrongQuota(7, "2", 3, 3))))
        .containsExactly(false);
    assertThat(redis.countLate(old, seen, new Late(1, 1, 1))).isFalse();
    redis.restore(old, 0, Map.of(lost.orderId(), AdmissionRecord.queued(lost)));

    assertThat(sale.all()).isEqualTo(before);
    sale.forget();
  }

  /** As a process does that stood still since it read the sale. */
  @ParameterizedTest
  @CsvSource({"seq, 1, 26", "seq, 2, 25", "changeSeq, 1, 26"})
  void replacesNoStockThatHasMovedSinceItWasRead(String field, String seq, String stock) {
    AdmittedSale sale = twoOrders();

    assertThat(redis.setStock(product(sale), read(sale, field, seq, stock), 1)).isFalse();

    assertThat(sale.stock()).isEqualTo(26);
    sale.forget();
  }

  @Test
  void replacesNoQuotaThatHasMovedSinceItWasRead() {
    AdmittedSale sale = twoOrders();

    List<Boolean> replaced =
        redis.setQuotas(
            product(sale), 0, List.of(new WrongQuota(7, "1", 0, 0), new WrongQuota(7, "2", 3, 3)));

    assertThat(replaced).containsExactly(false, true);
    assertThat(sale.quota(7)).isEqualTo(3);
    sale.forget();
  }

  /** Another run has restored it since this one found it missing. */
  @Test
  void restoresNothingInPlaceOfAnOrderOrRequestThatIsThere() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    OrderMessage order = sale.admit(7, 1);
    sale.setResult(order, "P");
    Map<String, Object> before = sale.all();

    redis.restore(product(sale), 0, Map.of(order.orderId(), AdmissionRecord.queued(order)));
    assertThat(sale.all()).isEqualTo(before);

    OrderMessage second =
        AdmittedSale.copy(
            OrderFlood.order(sale.sku, PurchasePolicy.LIMITED, 7, 1),
            order.requestId(),
            PurchasePolicy.LIMITED);
    redis.restore(product(sale), 0, Map.of(second.orderId(), AdmissionRecord.queued(second)));
    assertThat(sale.result(second)).isEqualTo("Q");
    assertThat(sale.firstAnswer(order)).isEqualTo(order.orderId() + ":1");
    sale.forget();
  }

  @Test
  void countsNoLateOrdersTwice() {
    AdmittedSale sale = twoOrders();
    sale.setField("late", "1");

    assertThat(redis.countLate(product(sale), read(sale, "late", "", "26"), new Late(1, 1, 1)))
        .isFalse();

    assertThat(sale.field("admittedOrders")).isEqualTo("2");
    sale.forget();
  }

  /** As when a replica without an order took over: a higher sequence would hide the loss. */
  @Test
  void countsNoLateOrdersOnceRedisHasLostAnAdmission() {
    AdmittedSale sale = twoOrders();

    assertThat(redis.countLate(product(sale), read(sale, "seq", "3", "26"), new Late(1, 1, 1)))
        .isFalse();

    assertThat(sale.field("seq")).isEqualTo("2");
    sale.forget();
  }

  @ParameterizedTest
  @CsvSource({"epoch, 7", "state, PAUSED"})
  void replacesNoStateThatHasChangedSinceItWasRead(String field, String before) {
    AdmittedSale sale = twoOrders();

    assertThat(redis.setState(product(sale), read(sale, field, before, "26"), "CLOSED")).isFalse();

    assertThat(sale.field("state")).isEqualTo("OPEN");
    sale.forget();
  }

  /** It stops a sale that Redis has lost, and that may never be loaded again. */
  @Test
  void theStateOfALostSaleExpires() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    sale.forget();

    assertThat(redis.setState(product(sale), redis.state(sale.sku), "PREHEATING")).isTrue();

    assertThat(consumer.redis().pexpireTime(RedisKeys.sku(sale.sku)))
        .isEqualTo(product(sale).expiry().rulesMs());
    sale.forget();
  }

  /** Two orders of user 7, each of a unit. */
  private static AdmittedSale twoOrders() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 28);
    sale.admit(7, 1);
    sale.admit(7, 1);
    return sale;
  }

  private static ProductSnapshot product(AdmittedSale sale) {
    return ProductRows.find(consumer.sql(), sale.sku).orElseThrow();
  }

  /** The sale as it is, but for the stock and a field. */
  private RedisSaleState read(AdmittedSale sale, String field, String value, String stock) {
    Map<String, String> fields = new HashMap<>(redis.state(sale.sku).fields());
    fields.put(field, value);
    return new RedisSaleState(fields, stock);
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
