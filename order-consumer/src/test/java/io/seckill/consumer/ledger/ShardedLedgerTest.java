package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Decider;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Units;
import java.time.Instant;
import java.util.List;
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

  private static SkuLedger ledger(long initial, long stock, long inMySql, boolean isBalanced) {
    return new SkuLedger(
        7,
        Decider.REDIS,
        "OPEN",
        1,
        Instant.EPOCH,
        isBalanced,
        null,
        new Units(initial, 0, 0, stock, 0, 0, 0, 0, 0, 0, 0),
        new Orders(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        new MySql(inMySql, initial, initial - inMySql),
        Lists.none(7),
        null,
        null,
        null);
  }
}
