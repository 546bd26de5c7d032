package io.seckill.gateway.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.SaleState;
import io.seckill.gateway.catalogue.SaleStockCache.InRedis;
import io.seckill.gateway.catalogue.SaleStockCache.SaleStock;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.support.contract.ProductRow;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SaleStockCacheTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        // shards: state/stock/elsewhere              | state  | stock
        "OPEN/10/0                                   | OPEN   | 10",
        "-/-/0                                       | -      | -",
        "OPEN/3/9 OPEN/0/9 OPEN/4/9 OPEN/5/9         | OPEN   | 12",
        "OPEN/0/2 OPEN/0/2                           | OPEN   | 2",
        "OPEN/0/0 OPEN/0/0                           | OPEN   | 0",
        "PAUSED/3/9 OPEN/2/9                         | OPEN   | 5",
        "PAUSED/3/9 PAUSED/2/9                       | PAUSED | 5",
        "-/-/-1 OPEN/2/9                             | OPEN   | 2",
        "-/-/-1 OPEN/0/7                             | OPEN   | 7",
        "-/-/-1 OPEN/0/0                             | OPEN   | 0",
        "OPEN/0/-1 OPEN/0/-1                         | OPEN   | -",
        "-/-/-1 OPEN/0/-1                            | OPEN   | -",
        "OPEN/0/0 OPEN/0/-1                          | OPEN   | -",
        "OPEN/0/-1 OPEN/4/-1                         | OPEN   | 4",
      })
  void theStockOfASkuIsThatOfItsShards(
      String shards, @Nullable String state, @Nullable Long stock) {
    List<InRedis> read =
        Arrays.stream(shards.split(" ", -1)).map(SaleStockCacheTest::shard).toList();

    assertThat(InRedis.whole(read)).isEqualTo(new SaleStock(state, stock));
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // MySQL, Redis, shown
        "OPEN, PAUSED, PAUSED",
        "OPEN, CLOSED, CLOSED",
        "PAUSED, CLOSED, CLOSED",
        "PAUSED, OPEN, PAUSED",
        "OPEN, PREHEATING, OPEN",
        "OPEN, -, OPEN",
        "PREHEATED, CLOSED, PREHEATED", // its loading has not begun yet
        "NEW, CLOSED, NEW"
      })
  void aStopIsShownThatOnlyRedisHas(SaleState mysql, @Nullable String redis, SaleState shown) {
    assertThat(new SaleStock(redis, 5L).stateOf(product(mysql))).isEqualTo(shown);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // MySQL's epoch, Redis: epoch, state; shown, stock
        "2, 1, CLOSED, OPEN, -",
        "2, 1, PAUSED, OPEN, -",
        "2, 0, PREHEATING, OPEN, -",
        "2, 2, CLOSED, CLOSED, 5",
        "2, 3, CLOSED, CLOSED, 5" // MySQL was read before
      })
  void dataOfAnOlderEpochThanMySqlsAreNone(
      long mysql, long redis, String state, SaleState shown, @Nullable Long stock) {
    InRedis sale = new InRedis(state, 5L, 0, redis).ofEpoch(mysql);
    SaleStock whole = InRedis.whole(List.of(sale));

    assertThat(whole.stateOf(product(SaleState.OPEN))).isEqualTo(shown);
    assertThat(whole.stock()).isEqualTo(stock);
  }

  private static ProductRow product(SaleState state) {
    return TestProductRow.of(1_001).state(state).row();
  }

  private static InRedis shard(String text) {
    String[] part = text.split("/", -1);
    return new InRedis(
        part[0].equals("-") ? null : part[0],
        part[1].equals("-") ? null : Long.valueOf(part[1]),
        Long.parseLong(part[2]),
        1);
  }
}
