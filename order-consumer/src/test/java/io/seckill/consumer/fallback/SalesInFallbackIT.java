package io.seckill.consumer.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.Sales;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sales that are new, extended, enlarged or moved during a fallback. */
class SalesInFallbackIT extends SaleInFallback {

  /** Redis would have it alone, and no fallback would begin for it any more. */
  @Test
  void aNewSaleOfRedisIsPreheatedOnlyAfterTheFallback() {
    long created = NEXT_SKU.incrementAndGet();
    long sharded = NEXT_SKU.incrementAndGet();
    long strong = NEXT_SKU.incrementAndGet();
    put(created, Sales.product("LIMITED", 1, 9));
    put(sharded, Sales.product("LIMITED", 1, 203).replace("{", "{\"shards\":4,"));
    put(strong, Sales.strongProduct("LIMITED", 1, 9));
    fallback.enterWith(GATEWAY, "");

    assertThat(preheat(created).code()).isEqualTo("REFUSED");
    assertThat(preheat(sharded).code()).isEqualTo("REFUSED");
    assertThat(preheat(strong).status()).isEqualTo(200);
    assertThat(fallback.product(sharded, "state")).isEqualTo("NEW");

    fallback.comeBack();
    assertThat(preheat(created).status()).isEqualTo(200);
    execute(
        "UPDATE products SET state = 'CLOSED' WHERE sku_id IN (%d, %d)".formatted(created, strong));
  }

  /** Redis, which is away, would have it alone. */
  @ParameterizedTest(name = "by itself: {0}")
  @ValueSource(booleans = {true, false})
  void aSaleThatIsExtendedDuringTheFallbackEntersIt(boolean isByItself) {
    AdmittedSale over =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + over.sku);
    fallback.enterWith(GATEWAY, "");
    execute("DELETE FROM gateway_node");
    String enter = FallbackFixture.FALLBACK + "/enter";
    assertThat(consumer.api().post(enter, "{}").code()).isEqualTo("REFUSED");
    assertThat(fallback.view().path("salesOfRedis").longValue()).isZero();

    execute("UPDATE products SET closes_at = '2037-01-01' WHERE sku_id = " + over.sku);
    assertThat(fallback.view().path("salesOfRedis").longValue()).isOne();
    if (isByItself) {
      eventually()
          .pollInterval(Duration.ofMillis(50))
          .until(
              () -> {
                fallback.beat(1, 0, "UNUSABLE", 1_000);
                return !fallback.product(over.sku, "fallback").equals("NO");
              });
      execute("DELETE FROM gateway_node");
    } else {
      fallback.enter();
    }
    assertThat(fallback.buy(sku, 7)).as("in it before").isEqualTo("CONFIRMED");
    fallback.awaitState("MYSQL");

    eventually().until(() -> fallback.buy(over.sku, 7).equals("CONFIRMED"));
    assertThat(fallback.number(sku, "epoch")).isEqualTo(2);
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("tester");
    fallback.comeBack();
    fallback.assertBalanced(over.sku);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + over.sku);
    over.forget();
  }

  /** Redis, which has lost it, would have it alone, and sell what gateways have promised. */
  @Test
  void aSaleThatIsExtendedDuringTheFallbackIsRebuiltOnlyAfterIt() {
    AdmittedSale over =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + over.sku);
    fallback.enterWith(GATEWAY, "");
    execute("UPDATE products SET closes_at = '2037-01-01' WHERE sku_id = " + over.sku);
    over.forget();

    assertThat(rebuild(over.sku)).contains("UNPROVEN").contains("until the fallback ends");

    assertThat(fallback.product(over.sku, "CONCAT_WS(' ', sale_phase, epoch)"))
        .isEqualTo("REDIS 1");
    assertThat(consumer.redis().exists(RedisKeys.sku(over.sku))).isFalse();
    fallback.comeBack();
    assertThat(rebuild(over.sku)).contains("REBUILT");
    fallback.assertStoresAgree(over.sku);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + over.sku);
    over.forget();
  }

  private static String rebuild(long sku) {
    return consumer
        .api()
        .post("/internal/v1/skus/" + sku + "/reconciliation", "{\"dryRun\":false}")
        .text();
  }

  /** No shard has them, and nobody buys of the SKU itself. */
  @Tag("proof")
  @Test
  void unitsThatAreAddedToASkuWithShardsAreSold() {
    long sharded = NEXT_SKU.incrementAndGet();
    String product = "/internal/v1/skus/" + sharded;
    List<Long> shards = Shards.ids(sharded, 4);
    consumer.api().put(product, Sales.product("LIMITED", 1, 203).replace("{", "{\"shards\":4,"));
    eventually().until(() -> consumer.api().post(product + "/preheat").status() == 200);
    eventually().until(() -> consumer.api().post(product + "/open").status() == 200);
    fallback.enterWith(GATEWAY, "");
    assertThat(new Sales(consumer).putAsShown(sharded).status()).isEqualTo(200);

    eventually().until(() -> consumer.api().changeStock(sharded, "change-01", 10).status() == 200);

    eventually()
        .until(
            () -> {
              consumer.sweep("stockChangeSweeper"); // also of a move that the fallback interrupts
              return ledger.stock(sharded) == 0;
            });
    assertThat(shards).extracting(ledger::stock).allMatch(stock -> stock > 50);
    assertThat(shards.stream().mapToLong(ledger::stock).sum()).isEqualTo(213);
    fallback.assertBalanced(sharded);
    assertThat(fallback.buy(shards.get(0), 7)).isEqualTo("CONFIRMED");
    fallback.comeBack();
    fallback.assertBalanced(sharded);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sharded);
    shards.forEach(id -> execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + id));
  }

  /**
   * A take and a gift that Redis has made, and one of each that it has not. They are finished while
   * MySQL decides, or when Redis does again, which then has what MySQL had.
   */
  @Tag("proof")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void movesThatAFallbackInterruptsHappenOnce(boolean whileMySqlDecides) {
    long sharded = NEXT_SKU.incrementAndGet();
    String product = "/internal/v1/skus/" + sharded;
    List<Long> shards = Shards.ids(sharded, 2);
    put(sharded, Sales.product("LIMITED", 1, 200).replace("{", "{\"shards\":2,"));
    consumer.api().post(product + "/preheat");
    eventually().until(() -> consumer.api().post(product + "/open").status() == 200);
    long giver = shards.get(0);
    long taker = shards.get(1);
    move(giver, "taken", -30, "PENDING", true);
    move(giver, "not-taken", -10, "PENDING", false);
    execute("UPDATE products SET stock = stock - 20 WHERE sku_id = " + giver); // given to the other
    execute("UPDATE products SET initial_stock = initial_stock - 20 WHERE sku_id = " + giver);
    consumer.redis().decrBy(RedisKeys.stock(giver), 20);
    execute("UPDATE products SET stock = stock + 20 WHERE sku_id = " + taker);
    execute("UPDATE products SET initial_stock = initial_stock + 20 WHERE sku_id = " + taker);
    move(taker, "given", 12, "MYSQL_DONE", true);
    move(taker, "not-given", 8, "MYSQL_DONE", false);
    String units = // read at once: the mover may be at work
        "SELECT SUM(stock) FROM products WHERE sku_id IN (%d, %d, %d)"
            .formatted(sharded, giver, taker);

    fallback.enterWith(GATEWAY, "");
    if (whileMySqlDecides) {
      finishMoves(shards);
      assertThat(ledger.number(units)).isEqualTo(200);
      fallback.assertBalanced(sharded);
    }
    fallback.comeBack();
    finishMoves(shards);

    fallback.assertBalanced(sharded);
    for (long shard : shards) {
      eventually()
          .until(
              () -> consumer.redis().get(RedisKeys.stock(shard)).equals("" + ledger.stock(shard)));
    }
    assertThat(ledger.number(units)).isEqualTo(200);
    assertThat(ledger.stock(taker)).isGreaterThanOrEqualTo(120);
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + sharded);
    shards.forEach(id -> execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + id));
  }

  private static void finishMoves(List<Long> shards) {
    shards.forEach(
        id ->
            execute(
                "UPDATE stock_change SET updated_at = NOW(6) - INTERVAL 1 HOUR WHERE sku_id = "
                    + id));
    eventually()
        .until(
            () -> {
              consumer.sweep("stockChangeSweeper");
              return ledger.number(
                      "SELECT COUNT(*) FROM stock_change WHERE state NOT IN ('DONE', 'REFUSED')"
                          + " AND sku_id IN (%d, %d)".formatted(shards.get(0), shards.get(1)))
                  == 0;
            });
  }
}
