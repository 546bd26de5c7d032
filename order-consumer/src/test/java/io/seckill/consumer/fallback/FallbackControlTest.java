package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.IdlePools;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.LoggedLines;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;

class FallbackControlTest {

  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final FallbackDatabase mysql = new Database();
  private RuntimeException failure = new CannotCreateTransactionException("for the test");
  private FallbackTable.Row row = row(SalePhase.REDIS);
  private Gateways gateways = new Gateways(List.of());
  private boolean isRedisReached = true;
  private int statements;
  private int looksAtSales;
  private int looksAtReserves;
  private int transactions;
  private List<Long> reserved = List.of();

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

  @Test
  void reservesThatCannotBeReducedKeepNothingElseWaiting() {
    row = row(SalePhase.MYSQL);
    reserved = List.of(1L, 2L);
    failure = new CannotAcquireLockException("for the test");
    FallbackControl control = control(FallbackMode.MANUAL);

    control.tick();
    control.tick();

    assertThat(looksAtReserves).isEqualTo(2);
    assertThat(looksAtSales).as("for the metrics").isEqualTo(2);
    assertThat(transactions).as("twice both together, and each alone").isEqualTo(2 * 3);
  }

  /** Each reserve waited for a connection. */
  @Test
  void whileMySqlIsAwayAStepAsksItOnce() {
    row = row(SalePhase.MYSQL);
    reserved = List.of(1L, 2L);
    FallbackControl control = control(FallbackMode.MANUAL);

    assertThatThrownBy(control::tick).isSameAs(failure);

    assertThat(transactions).isOne();
  }

  @Test
  void looksForSalesWhoseReturnHasStoppedThemForTooLong() {
    row = row(SalePhase.RETURNING);

    control(FallbackMode.MANUAL).tick();

    assertThat(looksAtSales).as("for these, and for the metrics").isEqualTo(2);
  }

  /** Each change needs a transaction; there is no MySQL. */
  @ParameterizedTest
  @CsvSource({
    "MANUAL, REDIS, UNUSABLE, false",
    "AUTOMATIC, REDIS, UNUSABLE, true",
    "OFF, RETURNING, UNUSABLE, false",
    "MANUAL, RETURNING, UNUSABLE, false",
    "AUTOMATIC, RETURNING, UNUSABLE, true",
    "MANUAL, MYSQL, USABLE, false",
    "AUTOMATIC, MYSQL, UNUSABLE, false",
    "AUTOMATIC, MYSQL, USABLE, true"
  })
  void beginsAndEndsByItselfOnlyInModeAutomatic(
      FallbackMode mode, SalePhase state, RedisView redis, boolean isByItself) {
    row = row(state);
    gateways = new Gateways(List.of(gateway(redis)));
    FallbackControl control = control(mode);

    Throwable failure = catchThrowable(control::tick);

    if (isByItself) {
      assertThat(failure).isInstanceOf(CannotCreateTransactionException.class);
    } else {
      assertThat(failure).isNull();
    }
  }

  /** One that has none would go on selling while MySQL decides. */
  @ParameterizedTest
  @CsvSource({"AUTOMATIC, true", "OFF, false"})
  void beginsAgainDuringAReturnIfEveryGatewayHasAFallback(FallbackMode last, boolean begins) {
    row = row(SalePhase.RETURNING);
    gateways =
        new Gateways(
            List.of(
                gateway(RedisView.UNUSABLE),
                gateway(RedisView.UNUSABLE),
                gateway(last, RedisView.USABLE)));
    FallbackControl control = control(FallbackMode.AUTOMATIC);

    Throwable failure = catchThrowable(control::tick);

    if (begins) {
      assertThat(failure).isInstanceOf(CannotCreateTransactionException.class);
    } else {
      assertThat(failure).isNull();
    }
  }

  /** It may have promised what MySQL would give to Redis to sell. Operators can stop it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void doesNotEndWhileAGatewayHasNotTransferred(boolean isRedisThere) {
    isRedisReached = isRedisThere;
    row = row(SalePhase.MYSQL);
    gateways =
        new Gateways(
            List.of(
                gateway(RedisView.USABLE), gateway(FallbackMode.AUTOMATIC, RedisView.USABLE, 0)));
    FallbackControl control = control(FallbackMode.AUTOMATIC);

    try (LoggedLines lines = LoggedLines.ofThisThread(FallbackControl.class)) {
      control.tick();
      control.tick();

      assertThat(lines.texts())
          .singleElement()
          .asString()
          .contains("fallback 1: MySQL sells on: The gateway gateway-0 has not transferred");
    }
    assertThatThrownBy(control::leave)
        .isInstanceOf(ProblemException.class)
        .hasMessageContaining("gateway-0");
  }

  @Test
  void namesTheHindranceOfEachFallbackOnce() {
    gateways = new Gateways(List.of(gateway(FallbackMode.AUTOMATIC, RedisView.USABLE, 0)));
    FallbackControl control = control(FallbackMode.AUTOMATIC);

    try (LoggedLines lines = LoggedLines.ofThisThread(FallbackControl.class)) {
      for (long term : List.of(1L, 1L, 2L, 2L)) {
        row = row(SalePhase.MYSQL, term);
        control.tick();
      }

      assertThat(lines.texts())
          .satisfiesExactly(
              first -> assertThat(first).startsWith("fallback 1: MySQL sells on"),
              second -> assertThat(second).startsWith("fallback 2: MySQL sells on"));
    }
  }

  @Test
  void doesNotEndWithoutRedis() {
    isRedisReached = false;
    row = row(SalePhase.MYSQL);
    gateways = new Gateways(List.of(gateway(RedisView.USABLE)));

    assertThatThrownBy(control(FallbackMode.AUTOMATIC)::leave)
        .isInstanceOf(ProblemException.class)
        .hasMessageContaining("order-consumer does not reach Redis");
  }

  private static GatewayNode gateway(RedisView redis) {
    return gateway(FallbackMode.AUTOMATIC, redis);
  }

  private static GatewayNode gateway(FallbackMode mode, RedisView redis) {
    return gateway(mode, redis, 1);
  }

  private static GatewayNode gateway(FallbackMode mode, RedisView redis, long transferred) {
    return new GatewayNode(
        "gateway-" + transferred,
        mode,
        1,
        transferred,
        true,
        redis,
        MINUTE.toMillis(),
        BreakerState.CLOSED,
        0,
        0,
        0);
  }

  private FallbackControl control(FallbackMode mode) {
    FallbackProperties settings = new FallbackProperties(mode);
    AdmittedUnitsTable admissions = new AdmittedUnitsTable(mysql);
    FallbackSales sales = new Sales();
    Table table = new Table();
    Nodes nodes = new Nodes();
    return new FallbackControl(
        settings,
        table,
        sales,
        nodes,
        new Looks(settings, sales, admissions, nodes),
        mysql,
        new FallbackMeters(meters),
        new AuditLog());
  }

  private static FallbackTable.Row row(SalePhase state) {
    return row(state, 1);
  }

  private static FallbackTable.Row row(SalePhase state, long term) {
    return new FallbackTable.Row(
        state, term, FallbackControl.AUTOMATIC, Instant.EPOCH, Instant.EPOCH, 50, 3);
  }

  /** No transaction succeeds. */
  private final class Database extends FallbackDatabase {

    Database() {
      super(IdlePools.create(meters), meters);
    }

    @Override
    TransactionOperations transactions() {
      return new TransactionOperations() {
        @Override
        public <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
          transactions++;
          throw failure;
        }
      };
    }
  }

  private final class Table extends FallbackTable {

    Table() {
      super(mysql, Clock.systemUTC());
    }

    @Override
    Row read() {
      statements++;
      return row;
    }
  }

  private final class Nodes extends GatewayTable {

    Nodes() {
      super(mysql);
    }

    @Override
    Overview overview() {
      statements++;
      return new Overview(row, gateways);
    }
  }

  private final class Sales extends FallbackSales {

    Sales() {
      super(mysql);
    }

    @Override
    List<InFallback> all() {
      looksAtSales++;
      return List.of();
    }

    @Override
    long countOfRedis() {
      return 0;
    }

    @Override
    List<Long> allReserved() {
      looksAtReserves++;
      return reserved;
    }
  }

  private final class Looks extends SaleObservations {

    Looks(
        FallbackProperties settings,
        FallbackSales sales,
        AdmittedUnitsTable admissions,
        GatewayTable gateways) {
      super(settings, sales, admissions, gateways, new CannedRedis(command -> ""));
    }

    @Override
    boolean isRedisReached() {
      return isRedisReached;
    }
  }
}
