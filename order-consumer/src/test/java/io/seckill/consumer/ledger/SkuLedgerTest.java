package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Decider;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Queue;
import io.seckill.consumer.ledger.SkuLedger.Units;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SkuLedgerTest {

  @ParameterizedTest
  @CsvSource({
    "true,  0, REDIS, true,  0, 0, 0, 0,",
    "true,  0, MYSQL, false, 0, 0, 0, 0,",
    "false, 1, REDIS, true,  0, 0, 0, 0, the ledger does not balance",
    "false, 0, REDIS, true,  0, 0, 0, 0, its queue may still lack orders",
    "true,  0, REDIS, false, 0, 0, 0, 0, its queue cannot be checked",
    "true,  0, REDIS, true,  2, 0, 0, 0, 2 orders on their way to MySQL",
    "true,  0, REDIS, true,  0, 3, 0, 0, 3 orders on their way to MySQL",
    "true,  0, REDIS, true, -6, 0, 0, 0, '6 orders that Redis lacks: close the sale again, preheat it and close it'",
    "true,  0, REDIS, true,  0, 0, 4, 0, 4 orders that may still be paid",
    "true,  0, REDIS, true,  0, 0, 0, 5, 5 units on their way back to Redis"
  })
  void saysWhatTheSaleWaitsFor(
      boolean balanced,
      long difference,
      Decider decides,
      boolean hasQueue,
      long inRedis,
      long inBroker,
      long confirmed,
      long compensating,
      @Nullable String waits) {
    SkuLedger ledger =
        new SkuLedger(
            7,
            decides,
            "CLOSED",
            1,
            Instant.EPOCH,
            balanced,
            null,
            new Units(10, 0, 0, 10, 0, 0, 0, 0, 0, compensating, 0),
            new Orders(9, inRedis, inBroker, 0, confirmed, 1, 1, 1, 1, 1, 0),
            new MySql(10, 10 + difference, difference),
            Lists.none(7),
            hasQueue ? new Queue("queue", 0, 0, 0, 0) : null,
            null,
            null,
            false);

    assertThat(ledger.waiting()).isEqualTo(waits == null ? List.of() : List.of(waits));
  }

  @Test
  void countsEveryUnitThatIsSomewhere() {
    assertThat(new Units(64, 20, 10, 30, 1, 2, 3, 4, 5, 6, 7).difference()).isEqualTo(16);
  }
}
