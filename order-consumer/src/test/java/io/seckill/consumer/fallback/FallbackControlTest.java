package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.IdlePools;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.web.AuditLog;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FallbackControlTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final FallbackDatabase mysql = new FallbackDatabase(IdlePools.create(meters), meters);
  private int statements;

  /** Nothing happens for a minute of the sweepers' pauses; no gateway has lost Redis. */
  @ParameterizedTest
  @CsvSource({"OFF, 60", "MANUAL, 240", "AUTOMATIC, 240"})
  void readsTheStateOnceForEachLook(FallbackMode mode, int looks) {
    FallbackControl control = control(mode);
    control.tick();
    statements = 0;
    Sweeper sweeper = control.fallbackControlSweeper();

    for (Duration time = Duration.ZERO;
        time.compareTo(MINUTE) < 0;
        time = time.plus(sweeper.pause())) {
      control.tick();
    }

    assertThat(statements).isEqualTo(looks);
    assertThat(control.isReturning()).isFalse();
  }

  private FallbackControl control(FallbackMode mode) {
    FallbackProperties settings = new FallbackProperties(mode);
    AdmittedUnitsTable admissions = new AdmittedUnitsTable(mysql);
    FallbackSales sales = new FallbackSales(mysql, admissions);
    Table table = new Table();
    Nodes nodes = new Nodes();
    return new FallbackControl(
        settings,
        table,
        sales,
        nodes,
        new SaleObservations(settings, sales, admissions, nodes, new CannedRedis(command -> "")),
        mysql,
        new FallbackMeters(meters),
        new AuditLog());
  }

  private static FallbackTable.Row row() {
    return new FallbackTable.Row(SalePhase.REDIS, 1, null, Instant.EPOCH, Instant.EPOCH, 50, 3);
  }

  private final class Table extends FallbackTable {

    Table() {
      super(mysql);
    }

    @Override
    Row read() {
      statements++;
      return row();
    }
  }

  private final class Nodes extends GatewayTable {

    Nodes() {
      super(mysql);
    }

    @Override
    Overview overview() {
      statements++;
      return new Overview(row(), new Gateways(List.of()));
    }
  }
}
