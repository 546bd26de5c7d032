package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.Decider;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Queue;
import io.seckill.consumer.ledger.SkuLedger.Units;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LedgerMetersTest {

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final LedgerMeters meters = new LedgerMeters(registry);

  /** A scrape that meets both the removed and the new gauge of the same tags fails as a whole. */
  @Test
  void aGaugeThatIsSetAgainStaysRegistered() {
    show(ledger(7, 10), ledger(8, 20));
    List<Meter> before = registry.getMeters();

    show(ledger(7, 11), ledger(8, 21));

    assertThat(registry.getMeters())
        .usingElementComparator((one, other) -> one == other ? 0 : 1)
        .containsExactlyInAnyOrderElementsOf(before);
    assertThat(units(7)).isEqualTo(11);
    assertThat(units(8)).isEqualTo(21);
  }

  @Test
  void aSkuThatIsNoLongerReadHasNoGauge() {
    show(ledger(7, 10), ledger(8, 20));

    show(ledger(8, 20));

    assertThat(registry.find("seckill.ledger.units").tag("sku", "7").gauges()).isEmpty();
    assertThat(registry.find("seckill.ledger.age.seconds").tag("sku", "7").gauges()).isEmpty();
    assertThat(registry.find("seckill.ledger.units").tag("sku", "8").gauges()).isNotEmpty();
  }

  /** A strong sale has none. */
  @Test
  void theDifferenceOfAQueueThatWasNotCheckedIsUnknown() {
    show(
        ledger(7, 10, Decider.REDIS, null),
        ledger(8, 10, Decider.MYSQL, null),
        ledger(9, 10, Decider.REDIS, 3L));

    assertThat(differenceOfQueue(7)).isNaN();
    assertThat(differenceOfQueue(8)).isZero();
    assertThat(differenceOfQueue(9)).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource({"2, 3, 3", "0, -1, 0", "3,, 3", "0,, NaN", ",, NaN"})
  void ofTheQueuesOfShardsTheLargestDifferenceIsShown(
      @Nullable Long one, @Nullable Long other, Double shown) {
    SkuLedger sku = ledger(7, 20, Decider.MYSQL, null);
    show(
        new SkuLedger(
            7,
            Decider.MYSQL,
            "OPEN",
            1,
            Instant.EPOCH,
            true,
            null,
            sku.units(),
            sku.orders(),
            sku.mysql(),
            sku.partition(),
            null,
            0L,
            List.of(
                ledger(8, 10, Decider.REDIS, one),
                ledger(9, 10, Decider.REDIS, other),
                ledger(10, 0, Decider.MYSQL, null)),
            false));

    assertThat(differenceOfQueue(7)).isEqualTo(shown);
  }

  private double differenceOfQueue(long sku) {
    return registry
        .get("seckill.ledger.difference")
        .tag("sku", Long.toString(sku))
        .tag("of", "queue")
        .gauge()
        .value();
  }

  private void show(SkuLedger... ledgers) {
    List<SkuLedger> all = List.of(ledgers);
    meters.showAges(all.stream().map(SkuLedger::skuId).toList(), sku -> Duration.ofSeconds(sku));
    meters.show(all, Duration.ZERO, Instant.EPOCH);
  }

  private double units(long sku) {
    Gauge stock =
        registry
            .get("seckill.ledger.units")
            .tag("sku", Long.toString(sku))
            .tag("term", "stock")
            .gauge();
    return stock.value();
  }

  private static SkuLedger ledger(long sku, long stock) {
    return ledger(sku, stock, Decider.REDIS, 0L);
  }

  private static SkuLedger ledger(
      long sku, long stock, Decider decides, @Nullable Long differenceOfQueue) {
    return new SkuLedger(
        sku,
        decides,
        "OPEN",
        1,
        Instant.EPOCH,
        true,
        null,
        new Units(stock, 0, 0, stock, 0, 0, 0, 0, 0, 0, 0),
        new Orders(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        new MySql(stock, stock, 0),
        Lists.none(7),
        differenceOfQueue == null ? null : new Queue("queue", 0, 0, 0, differenceOfQueue),
        null,
        null,
        false);
  }
}
