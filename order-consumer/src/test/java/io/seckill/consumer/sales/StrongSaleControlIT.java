package io.seckill.consumer.sales;

import static io.seckill.testing.Eventually.eventually;
import static java.util.concurrent.CompletableFuture.supplyAsync;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.testing.ConsumerAlone;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A strong sale is run with MySQL alone, and purchases notice every change of it. */
@ExtendWith(TestServers.class)
@Timeout(50) // a call of Redis would take a minute
class StrongSaleControlIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(12_001);
  private static final String PRODUCT = Sales.strongProduct("LIMITED", 2, 100);

  private static final TestConsumer consumer = ConsumerAlone.shared().consumer();
  private static final InternalApi api = consumer.api();

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;

  @Test
  void isRunFromItsPreheatToItsCloseWithoutRedis() {
    assertThat(put(PRODUCT).text("decides")).isEqualTo("MYSQL");

    assertChanged(version(), api.post(path + "/preheat", "{}"), "PREHEATED");
    assertThat(column("epoch")).isEqualTo("1");
    assertChanged(version(), api.post(path + "/open", "{}"), "OPEN");
    assertChanged(version(), move("PAUSED"), "PAUSED");
    assertChanged(version(), api.post(path + "/resume", "{}"), "OPEN");
    assertChanged(version(), move("CLOSED"), "CLOSED");
    assertChanged(version(), api.post(path + "/preheat", "{}"), "PREHEATED");
    assertChanged(version(), move("CLOSED"), "CLOSED");
  }

  @ParameterizedTest
  @EnumSource
  void whoDecidesAndTheFallbackMakeThePhase(SalePhase phase) {
    put(PRODUCT);
    consumer.update(
        "UPDATE products SET decides = ?, fallback = ?, shards = ? WHERE sku_id = ?",
        phase.decider().name(),
        phase.fallback(),
        phase == SalePhase.SHARDED ? 4 : 1,
        sku);

    assertThat(column("sale_phase")).isEqualTo(phase.name());
    assertThat(isTrue(SalePhase.REDIS_DECIDES)).isEqualTo(phase.redisDecides());
    assertThat(isTrue(SalePhase.REDIS_DOES_NOT_DECIDE)).isNotEqualTo(phase.redisDecides());
    assertThat(isTrue(SalePhase.OF_REDIS)).isEqualTo(phase.isOfRedis());
    assertThat(isTrue(SalePhase.NOT_OF_REDIS)).isNotEqualTo(phase.isOfRedis());
  }

  private boolean isTrue(String condition) {
    return column(condition).equals("1");
  }

  @Test
  void aRepeatedStopOrOpeningChangesNothing() {
    open();
    long version = version();

    assertThat(api.post(path + "/open", "{}").status()).isEqualTo(200);
    assertThat(move("OPEN").status()).isEqualTo(200);
    assertThat(version()).isEqualTo(version);

    move("PAUSED");
    assertThat(move("PAUSED").status()).isEqualTo(200);
    assertThat(version()).isEqualTo(version + 1);
  }

  @Test
  void whatItsStateDoesNotAllowIsRefused() {
    put(PRODUCT);
    assertThat(api.post(path + "/open", "{}").code()).isEqualTo("ILLEGAL_TRANSITION");
    assertThat(move("PAUSED").code()).isEqualTo("ILLEGAL_TRANSITION");

    open();
    assertThat(api.post(path + "/preheat", "{}").code()).isEqualTo("SALE_RUNNING");

    move("CLOSED");
    assertThat(api.post(path + "/resume", "{}").code()).isEqualTo("ILLEGAL_TRANSITION");
  }

  @Test
  void aNewPreheatKeepsWhatWasSold() {
    open();
    OrderId sold = new StoredOrderFixture(consumer).strong(sku, 7, 2);
    move("CLOSED");
    long version = version();

    Answer preheated = api.post(path + "/preheat", "{}");

    assertChanged(version, preheated, "PREHEATED");
    assertThat(preheated.number("epoch")).isEqualTo(2);
    assertThat(preheated.number("stock")).isEqualTo(98);
    assertThat(preheated.number("lastSeq")).isEqualTo(1);
    assertThat(preheated.number("settled")).isEqualTo(1);
    assertThat(new StoredInvariants(consumer.sql()).status(sold)).isEqualTo("CONFIRMED");
  }

  @ParameterizedTest
  @CsvSource({"50, 150", "-50, 50", "-100, 0"})
  void aChangeOfStockIsMadeOnceForAnId(long delta, long stock) {
    open();

    Answer changed = api.changeStock(sku, "change-1", delta);
    Answer again = api.changeStock(sku, "change-1", delta);

    assertThat(changed.text())
        .isEqualTo(
            "{\"changeId\":\"change-1\",\"delta\":%d,\"state\":\"DONE\",\"stock\":%d}"
                .formatted(delta, stock));
    assertThat(again.text()).isEqualTo(changed.text());
    assertThat(column("initial_stock")).isEqualTo(Long.toString(stock));
  }

  @Test
  void aChangeOfStockIsNoticedByPurchases() {
    open();
    long version = version();

    for (long delta : List.of(50L, -50L)) {
      api.changeStock(sku, "change-no" + delta, delta);
      assertThat(version())
          .as("purchases that were decided before are decided again")
          .isEqualTo(++version);
    }
  }

  @Test
  void aWithdrawalOfMoreThanIsLeftIsRefused() {
    open();
    new StoredOrderFixture(consumer).strong(sku, 7, 2);
    long version = version();

    Answer refused = api.changeStock(sku, "change-1", -99);

    assertThat(refused.text("state")).isEqualTo("REFUSED");
    assertThat(refused.number("stock")).isEqualTo(98);
    assertThat(version()).isEqualTo(version);
    assertThat(api.changeStock(sku, "change-1", -99).text()).isEqualTo(refused.text());
  }

  @ParameterizedTest
  @CsvSource({"50, 150", "-50, 50"})
  void theSweepMakesAChangeThatACrashLeft(long delta, long stock) {
    open();
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, updated_at)"
            + " VALUES (?, 'change-1', ?, 'a crash', 'tester', 1, NOW(6) - INTERVAL 1 MINUTE)",
        sku,
        delta);

    consumer.bean(StockChanges.class).sweep();

    assertThat(column("stock")).isEqualTo(Long.toString(stock));
    assertThat(api.changeStock(sku, "change-1", delta).text("state")).isEqualTo("DONE");
  }

  @Test
  void aLaterClosingTimeIsNoticed() {
    open();
    long version = version();

    Answer edited = put(PRODUCT.replace("2036-01-01", "2037-01-01"));

    assertThat(edited.status()).isEqualTo(200);
    assertThat(edited.text("closesAt")).startsWith("2037-01-01");
    assertThat(edited.number("stateVersion")).isEqualTo(version + 1);
  }

  /** An edit of one that Redis is to decide asks Redis. */
  @Test
  void beforeThePreheatAnEditChoosesWhatDecides() {
    InternalApi withRedis = TestConsumer.shared().api();
    withRedis.put(path, PRODUCT);

    assertThat(
            withRedis
                .put(path, Sales.product("LIMITED", 2, 100))
                .body()
                .path("decides")
                .stringValue())
        .as("PUT replaces, and says REDIS with nothing")
        .isEqualTo("REDIS");
    assertThat(withRedis.put(path, PRODUCT).text("decides")).isEqualTo("MYSQL");
    assertThat(withRedis.put(path, PRODUCT.replace("MYSQL", "RABBITMQ")).field())
        .isEqualTo("decides");
  }

  /** Or it would be preheated with shards that nothing was loaded of. */
  @Test
  void aPreheatDoesNotMeetAnotherChoiceThanItHasRead() {
    put(PRODUCT);
    Future<Answer> preheated;
    try (RowLock held = consumer.lockProduct(sku)) {
      preheated = supplyAsync(() -> api.post(path + "/preheat", "{}"));
      eventually()
          .until(() -> consumer.executing("%%products%%%d%%FOR UPDATE".formatted(sku)).isPresent());
      held.execute("UPDATE products SET decides = 'REDIS', shards = 2 WHERE sku_id = " + sku);
      held.commit();
    }

    assertThat(Bounded.get(preheated).code()).isEqualTo("PREHEAT_OVERTAKEN");
    assertThat(column("CONCAT_WS(' ', state, epoch)")).isEqualTo("NEW 0");
  }

  @Test
  void aStopIsNotLookedForInRedis() {
    open();
    move("PAUSED");

    assertThat(consumer.bean(Products.class).findFollowed(Instant.now()))
        .noneMatch(sale -> sale.skuId() == sku);
  }

  private void open() {
    new Sales(consumer).openStrong(sku, "LIMITED", 2, 100);
  }

  private Answer put(String body) {
    return api.put(path, body);
  }

  private Answer move(String state) {
    return api.post(path + "/state", "{\"state\":\"" + state + "\"}");
  }

  private static void assertChanged(long before, Answer answer, String state) {
    assertThat(answer.text("state")).as(answer.text()).isEqualTo(state);
    assertThat(answer.number("stateVersion"))
        .as("purchases decided before this change notice it")
        .isEqualTo(before + 1);
  }

  private long version() {
    return Long.parseLong(column("state_version"));
  }

  private String column(String name) {
    return consumer.product(sku, name);
  }
}
