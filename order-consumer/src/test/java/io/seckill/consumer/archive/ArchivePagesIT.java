package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.SweeperPauses;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.OrderTotalSql;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/** An archive moves a sale page by page, and goes on where it stopped. */
@ExtendWith(TestServers.class)
class ArchivePagesIT extends FinishedSales {

  @Test
  void movesNoPageWithARefundThatIsDue() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10);
    long order = seed(1);
    close();
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      refundIsDue(order);

      assertThatThrownBy(() -> consumer.bean(ArchiveSteps.class).moveOrders(sku, 0))
          .hasMessageContaining("1 payments");

      assertThat(rows("orders")).isEqualTo(1);
      consumer.update("UPDATE payment SET check_at = NOW(6) WHERE order_id = ?", order);
      consumer.sweep("paymentSweeper");
      assertThat(archives.isHeld()).isTrue();
    }
    finish();
    assertThat(consumer.text("SELECT state FROM payment_history WHERE order_id = ?", order))
        .isEqualTo("REFUNDED");
  }

  /** As the report of a charge leaves it while the provider refuses the refund. */
  private static void refundIsDue(long order) {
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, charge_id, state, asked_at, check_at) VALUES"
            + " (?, 9900, 'late', 'REFUND_DUE', NOW(6) - INTERVAL 1 DAY,"
            + " NOW(6) + INTERVAL 1 MINUTE)",
        order);
  }

  @Test
  void goesOnWhereItWasCutOff() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10_000);
    int orders = 4_500;
    long first = seed(orders);
    close();
    long last = first + orders - 1;
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      breaksAtTheLastStatementOfAPage(last);
      assertThat(archives.isHeld()).isTrue();
    }
    consumer.update("DELETE FROM order_history WHERE order_id = ?", last);

    finish();

    assertThat(rows("orders")).isZero();
    assertThat(archive().number("orders")).isEqualTo(orders);
    assertThat(audit().path("differences").toString()).isEqualTo("[]");
    assertThat(ledger().path("balanced").booleanValue()).isTrue();
    purgesWhatIsOldEnough(first, orders);
  }

  /** A dump, for example, keeps the entries of all pages before in the index. */
  @Test
  void aPageReadsNothingThatPagesBeforeItHaveDeleted(MySqlServer mysql) throws SQLException {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10_000);
    seed(7_000);
    consumer.update(
        "INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units)"
            + " SELECT sku_id, user_id, 1, 1 FROM orders WHERE sku_id = ?",
        sku);
    close();
    try (RunLock archives = onlyByTheTest()) {
      begin(sku);
      consumer.update("UPDATE archive SET phase = 'REDIS' WHERE sku_id = ?", sku);
      consumer.update(BEGUN, 1, sku); // the service itself waits
      assertThat(archives.isHeld()).isTrue();
    }
    ArchiveTable table =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
          @Override
          List<Long> unfinished() {
            return super.unfinished().stream().filter(id -> id == sku).toList();
          }

          @Override
          boolean isOlderThan(long any, Duration age) {
            return true;
          }
        };
    Map<ArchivePhase, List<Long>> read = new EnumMap<>(ArchivePhase.class);
    try (RowLock dump = consumer.lock("START TRANSACTION WITH CONSISTENT SNAPSHOT");
        Connection root = mysql.rootConnection()) {
      SaleArchiver archiver = archiver(table, locking(root, read));
      roundUntil(archiver, () -> archive().text("phase").equals("DONE"));
      consumer.update(
          "UPDATE archive SET done_at = NOW(6) - INTERVAL 31 DAY WHERE sku_id = ?", sku);
      archiver.purge(Duration.ofDays(30));
      dump.release();
    }
    assertThat(archive().text("phase")).isEqualTo("PURGED");
    assertThat(read).containsOnlyKeys(ArchivePhase.ORDERS, ArchivePhase.REST, ArchivePhase.DONE);
    assertThat(read)
        .allSatisfy( // InnoDB may lock one more where a page of its index begins
            (phase, pages) -> assertThat(Collections.max(pages)).isLessThan(pages.get(0) + 100));
  }

  /**
   * Steps that keep everything locked that they read.
   *
   * @param read gets the number of those rows, for each page of a phase
   */
  private ArchiveSteps locking(Connection root, Map<ArchivePhase, List<Long>> read) {
    ArchiveSteps real = consumer.bean(ArchiveSteps.class);
    JdbcClient server = JdbcClient.create(new SingleConnectionDataSource(root, true));
    TransactionTemplate locking =
        new TransactionTemplate(new JdbcTransactionManager(consumer.bean(DataSource.class)));
    locking.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
    TransactionOperations counting =
        new TransactionOperations() {
          @Override
          public <T> T execute(TransactionCallback<T> work) {
            ArchivePhase phase = real.table().find(sku).orElseThrow().phase();
            return locking.execute(
                tx -> {
                  T result = work.doInTransaction(tx);
                  long thread =
                      real.jdbc().sql("SELECT CONNECTION_ID()").query(Long.class).single();
                  read.computeIfAbsent(phase, any -> new ArrayList<>()).add(locked(server, thread));
                  return result;
                });
          }
        };
    return new ArchiveSteps(real.jdbc(), real.redis(), real.table(), counting);
  }

  /** Such a page moves nothing. */
  private void breaksAtTheLastStatementOfAPage(long last) {
    ArchiveSteps steps = consumer.bean(ArchiveSteps.class);
    assertThat(steps.moveOrders(sku, 0)).isPositive();
    assertThat(audit().path("differences").toString()).as("half way").isEqualTo("[]");
    consumer.update(
        "INSERT INTO order_history SELECT order_id, user_id, sku_id + 1, quantity,"
            + " unit_price_cents, request_id, status, reason, epoch, seq, admitted_at, created_at,"
            + " updated_at FROM orders WHERE order_id = ?",
        last);
    assertThatThrownBy(
            () -> {
              while (steps.moveOrders(sku, 0) > 0) {}
            })
        .isInstanceOf(DataAccessException.class);
    assertThat(rows("orders")).isEqualTo(500);
    assertThat(rows("order_history")).isEqualTo(4_000);
    assertThat(archive().number("orders")).isEqualTo(4_000);
    assertThat(audit().path("differences").toString()).as("cut off").isEqualTo("[]");
  }

  private void purgesWhatIsOldEnough(long first, int orders) {
    consumer.update(
        "INSERT INTO payment_history (order_id, amount_cents, state, created_at, updated_at)"
            + " VALUES (?, 1, 'DECLINED', NOW(6), NOW(6))",
        first);
    SaleArchiver archiver = consumer.bean(SaleArchiver.class);
    String done = "UPDATE archive SET done_at = NOW(6) - INTERVAL ? DAY WHERE sku_id = ?";
    consumer.update(done, 29, sku);
    archiver.purge(Duration.ofDays(30));
    consumer.update(done, 31, sku);
    archiver.purge(Duration.ZERO);
    assertThat(rows("order_history")).as("too young, and kept for ever").isEqualTo(orders);
    assertThat(ofFirst("order_alias_history", "stored_order_id", first)).isOne();

    SweeperPauses.round(
        consumer
            .bean(Retention.class)
            .retentionSweeper(archiver, new ArchiveProperties(Duration.ZERO, Duration.ofDays(30))));

    assertThat(rows("order_history")).isZero();
    assertThat(ofFirst("order_alias_history", "stored_order_id", first)).isZero();
    assertThat(ofFirst("payment_history", "order_id", first)).isZero();
    assertThat(archive().text("phase")).isEqualTo("PURGED");
    assertThat(ledger().path("balanced").booleanValue()).isTrue();
    assertThat(consumer.api().post("/internal/v1/skus/" + sku + "/audit", "{}").code())
        .isEqualTo("ARCHIVED");
  }

  /** Its orders are fewer than they were, and no later audit could replace the differences. */
  @Test
  void auditsNoSaleWhoseHistoryIsBeingDeleted() {
    new Sales(consumer).openStrong(sku, "UNLIMITED", 0, 10_000);
    long first = seed(2_500);
    close();
    begin(sku);
    finish();
    assertThat(audit().path("differences").toString()).isEqualTo("[]");

    assertThat(consumer.bean(ArchiveSteps.class).purge(sku, 0)).isEqualTo(first + 1_999);

    assertThat(rows("order_history")).isEqualTo(500);
    assertThat(audit().path("code").asString("-")).isEqualTo("ARCHIVED");
  }

  private static long ofFirst(String table, String column, long order) {
    return consumer.number("SELECT COUNT(*) FROM " + table + " WHERE " + column + " = ?", order);
  }

  /** Stores cancelled orders and an alias of the first, and settles them as a purchase does. */
  private long seed(int orders) {
    long first = OrderId.of(System.currentTimeMillis(), Partition.ofSku(sku), 255, 0).value();
    consumer.update(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at) WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL"
            + " SELECT i + 1 FROM n WHERE i < 99) SELECT ? + a.i * 100 + b.i, 1 + a.i * 100 + b.i,"
            + " ?, 1, 9900, 'k', 'CANCELLED', 1, 1, NOW(3) FROM n a JOIN n b"
            + " WHERE a.i * 100 + b.i < "
            + orders,
        first,
        sku);
    consumer.update(
        "INSERT INTO order_alias (order_id, stored_order_id) VALUES (?, ?)", first - 1, first);
    consumer.update(OrderTotalSql.count(sku));
    consumer.update("INSERT INTO order_total VALUES (?, 'ALIASES', 1, 1)", sku);
    consumer.update("UPDATE products SET settled = ? WHERE sku_id = ?", orders + 1, sku);
    return first;
  }
}
