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
import org.junit.jupiter.api.Test;

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
    return new SkuLedger(
        sku,
        Decider.REDIS,
        "OPEN",
        1,
        Instant.EPOCH,
        true,
        null,
        new Units(stock, 0, 0, stock, 0, 0, 0, 0, 0, 0, 0, 0),
        new Orders(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        new MySql(stock, stock, 0),
        Lists.none(7),
        new Queue("queue", 0, 0, 0, 0),
        null,
        null);
  }
}
