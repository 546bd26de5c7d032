package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Decider;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Units;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardedLedgerTest {

  /** Of 30 units, ten each in the pool and in two shards. */
  @ParameterizedTest
  @CsvSource({
    "10, 10, true, true",
    "10, 10, false, false",
    "11, 10, true, false",
    "10, 11, true, false"
  })
  void isBalancedIfItsSumsAndEachShardAre(
      long inRedis, long inMySql, boolean isShardBalanced, boolean isBalanced) {
    ShardedLedger ledger =
        new ShardedLedger(
            ledger(30, 10, 10, true),
            List.of(ledger(10, 10, 10, true), ledger(10, inRedis, inMySql, isShardBalanced)));

    assertThat(ledger.solve().balanced()).isEqualTo(isBalanced);
  }

  @Test
  void addsUpEachTerm() {
    SkuLedger sku =
        ledger(
            new Units(1_000, 200, 30, 4, 0, 0, 0, 0, 0, 0, 0),
            new Orders(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            new MySql(4, 0, 0),
            true);
    SkuLedger first =
        ledger(
            new Units(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            new Orders(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
            new MySql(12, 0, 0),
            true);
    SkuLedger second =
        ledger(
            new Units(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110),
            new Orders(10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110),
            new MySql(120, 0, 0),
            true);

    SkuLedger sum = new ShardedLedger(sku, List.of(first, second)).solve();

    assertThat(sum.units())
        .isEqualTo(new Units(1_000, 200, 30, 4 + 44, 55, 66, 77, 88, 99, 110, 121));
    assertThat(sum.orders()).isEqualTo(new Orders(11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121));
    assertThat(sum.mysql()).isEqualTo(new MySql(4 + 132, 1_170 - 88 - 99, 983 - 136));
    assertThat(sum.pool()).isEqualTo(4);
  }

  private static SkuLedger ledger(long initial, long stock, long inMySql, boolean isBalanced) {
    return ledger(
        new Units(initial, 0, 0, stock, 0, 0, 0, 0, 0, 0, 0),
        new Orders(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        new MySql(inMySql, initial, initial - inMySql),
        isBalanced);
  }

  private static SkuLedger ledger(Units units, Orders orders, MySql mysql, boolean isBalanced) {
    return new SkuLedger(
        7,
        Decider.REDIS,
        "OPEN",
        1,
        Instant.EPOCH,
        isBalanced,
        null,
        units,
        orders,
        mysql,
        Lists.none(7),
        null,
        null,
        null,
        false);
  }
}
