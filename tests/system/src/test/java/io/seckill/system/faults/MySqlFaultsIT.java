package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.agent.inside.PointAction;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of MySQL, and locks that other sessions hold. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class MySqlFaultsIT {

  private static final int PAUSED = 3;
  private static final String INTAKE_STATE = "seckill_consumer_intake_state";
  private static final String BATCH_TIME = "seckill_consumer_batch_time_seconds";
  private static final Duration SLOW_ONE_WAY = Duration.ofMillis(150);

  /** Least number of statements of a batch: orders, products, COMMIT. */
  private static final int LEAST_STATEMENTS = 3;

  private final FaultLab lab;
  private final MySqlServer mysql;

  MySqlFaultsIT(FaultLab lab) {
    this.lab = lab;
    this.mysql = lab.servers().mysql();
  }

  /** More rows than a batch writes and locks: MySQL rolls back the transaction that has fewer. */
  private static final String BALLAST =
      "INSERT INTO ballast SELECT 1 FROM information_schema.collations a"
          + " JOIN information_schema.collations b LIMIT 30000";

  @Tag("proof")
  @Test
  @DisplayName("27: deadlock: a second session takes quota and product the other way round")
  void deadlock() throws SQLException {
    try (FaultRun run = lab.run("27 deadlock").begin(100);
        Connection session = lab.database().connect();
        Statement statement = session.createStatement()) {
      long sku = run.sale(2).skuId();
      statement.execute("CREATE TABLE IF NOT EXISTS ballast (n BIGINT) ENGINE = InnoDB");
      session.setAutoCommit(false);
      // The victim, a batch or a cancel, retries its transaction. On a machine that stalls, its
      // wait for the lock may be over before the deadlock.
      Signals.await("the consumer to be rolled back", () -> makesADeadlock(session, sku));
      run.fault("deadlock: the consumer's transaction was the victim");
      run.judge();
    }
  }

  /** Throws if the session is the victim. */
  private boolean makesADeadlock(Connection session, long sku) throws SQLException {
    session.rollback();
    long before = deadlocks();
    try (Statement statement = session.createStatement()) {
      statement.execute(BALLAST);
      statement.execute("SELECT stock FROM products WHERE sku_id = " + sku + " FOR UPDATE");
      awaitALockWait();
      statement.execute("SELECT owned_count FROM user_quota WHERE sku_id = " + sku + " FOR UPDATE");
    }
    session.rollback();
    return deadlocks() > before;
  }

  private void awaitALockWait() {
    Signals.await("the consumer to wait for the product", () -> waitsForProduct() > 0);
  }

  private long waitsForProduct() throws SQLException {
    return number(
        "SELECT COUNT(*) FROM information_schema.innodb_trx"
            + " WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE 'UPDATE products%'");
  }

  /** Deadlocks that InnoDB has resolved by rolling back one of the two transactions. */
  private long deadlocks() throws SQLException {
    return number(
        "SELECT `count` FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
  }

  private long number(String query) throws SQLException {
    try (Connection root = mysql.rootConnection()) {
      return Rows.number(root, query);
    }
  }

  @Test
  @DisplayName("28: MySQL killed under load")
  void killed() {
    try (FaultRun run = lab.run("28 MySQL killed").begin(300)) {
      run.during(
          Fault.of(lab, "MySQL", "kill"),
          () -> {
            Signals.await("intake to pause", () -> paused() > 0);
            double before = sum("seckill_consumer_deliveries_total");
            run.load().awaitAccepted(PipelineLab.PURCHASES * 3 / 4);
            assertThat(sum("seckill_consumer_deliveries_total") - before)
                .as("deliveries while MySQL was unavailable, none in a hot loop")
                .isLessThan(PipelineLab.PURCHASES * 10.0 / 3);
          });
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("28: MySQL slow: every statement takes 300 ms and more")
  void slow() {
    try (FaultRun run = lab.run("28 MySQL slow").begin(300)) {
      lab.all().forEach(service -> service.links().mysql().delay(SLOW_ONE_WAY));
      double batches = sum(BATCH_TIME + "_count");
      double seconds = sum(BATCH_TIME + "_sum");
      double opened = breakersOpened();
      double stored = sum("seckill_consumer_stored_total");
      run.load().awaitAccepted(1_500);
      Signals.await(
          "orders to be stored meanwhile",
          () -> sum("seckill_consumer_stored_total") > stored + 600);
      double each = (sum(BATCH_TIME + "_sum") - seconds) / (sum(BATCH_TIME + "_count") - batches);
      assertThat(each)
          .as("seconds a batch took")
          .isGreaterThan(LEAST_STATEMENTS * 2 * SLOW_ONE_WAY.toMillis() / 1_000.0);
      assertThat(breakersOpened()).as("times a breaker opened").isEqualTo(opened);
      assertThat(paused()).as("paused intakes").isZero();
      run.fault("each statement 300 ms late; %.1f s a batch, 600 orders stored".formatted(each));
      lab.all().forEach(service -> service.links().mysql().heal());
      run.judge();
    }
  }

  private double breakersOpened() {
    return sum("seckill_breaker_transitions_total", "breaker=\"mysql\"", "to=\"open\"");
  }

  /** While the breaker is half open and its probe has no outcome, it permits no other call. */
  @Tag("proof")
  @Test
  @DisplayName("28: MySQL read-only, and the probe for writes throws")
  void probeThrows() {
    try (FaultRun run = lab.run("28 MySQL read-only, its probe throws").begin(100)) {
      ServiceInstance consumer = lab.activeConsumer();
      consumer.agent().arm(Failpoints.BEFORE_PROBE, PointAction.THROW, 1);
      mysql.setReadOnly(true);
      consumer.agent().awaitReached(Failpoints.BEFORE_PROBE, FaultRun.DRAIN_LIMIT);
      run.fault(consumer.name() + " met a defect when it asked MySQL");
      mysql.setReadOnly(false);
      run.judge();
    } finally {
      mysql.setReadOnly(false);
    }
  }

  private long paused() {
    return lab.consumers().stream()
        .filter(
            consumer ->
                consumer.metrics(INTAKE_STATE).samples(INTAKE_STATE).anyMatch(n -> n == PAUSED))
        .count();
  }

  private double sum(String meter, String... labels) {
    return ServiceInstance.sum(lab.consumers(), meter, labels);
  }
}
