package io.seckill.consumer.archive;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.SaleInFlight;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a sale must not wait for any more before it is archived. */
@ExtendWith(TestServers.class)
class ArchiveConditionsIT extends FinishedSales {

  /** A shard that is archived sells nothing any more, and its SKU could not either. */
  @Test
  void archivesNoShardOfASkuWhileOneIsNotAtRest() {
    List<Long> shards = openShards();
    sold(shards.get(2), 7);
    consumer.update(
        "INSERT INTO daily_audit SELECT UTC_DATE(), ?, 'CLOSED', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
            + " 0, 0, 0, 0, 3, '', NOW(6)",
        shards.get(3));
    close();

    Answer refused = archive();

    assertThat(refused.code()).isEqualTo("NOT_AT_REST");
    assertThat(refused.text("detail"))
        .contains(
            "shard " + Shards.shard(shards.get(2)) + ": 1 orders that may still be paid",
            "shard " + Shards.shard(shards.get(3)) + ": 3 differences");
    assertThat(archivesOf(shards)).isZero();
    assertThat(consumer.api().post("/internal/v1/skus/" + sku + "/preheat").status())
        .isEqualTo(200);

    shards.forEach(SaleArchiveIT::closedLongAgo);
    closedLongAgo(sku);
    consumer.bean(SaleArchiver.class).beginDue(Duration.ofDays(7));

    assertThat(consumer.product(sku, "state")).isEqualTo("CLOSED");
    assertThat(archivesOf(shards)).as("by the schedule").isZero();
  }

  private static long archivesOf(List<Long> shards) {
    return shards.stream().mapToLong(id -> rows("archive", id)).sum();
  }

  @Test
  void namesEverythingThatASaleStillWaitsFor() {
    SaleInFlight.open(sku, 100, consumer, flood);
    assertThat(archive().text()).contains("it is OPEN, not CLOSED");
    ledger(); // its last reading has none of the orders
    stored.confirmed(sku, 7, 3);
    OrderId paid = stored.confirmed(sku, 8, 2);
    close();
    consumer.update(
        "INSERT INTO payment (order_id, amount_cents, state, check_at)"
            + " VALUES (?, 1, 'STARTED', NOW(6) + INTERVAL 1 HOUR)",
        paid.value());
    consumer.update(
        "INSERT INTO unexplained_charge (report_hash, kind, charge_id, order_id, reason, detail)"
            + " VALUES (UNHEX(SHA2(?, 256)), 'CHARGED', 'c', ?, 'OTHER_AMOUNT', '')",
        "archive " + sku,
        paid.value());
    consumer.update(
        "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units)"
            + " VALUES (?, ?, 8, 9, 1, 1)", // the sweep waits: Redis has an older epoch
        paid.value(),
        sku);
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, 'change', -1, '', '', 9, 'UNDOING')", // as above
        sku);
    consumer.update(
        "INSERT INTO dead_letter (order_id, sku_id, payload, payload_hash, reason, detail,"
            + " attempts, first_failed_at, last_failed_at) VALUES"
            + " (?, ?, '{}', UNHEX(SHA2(?, 256)), '', '', 1, NOW(), NOW())",
        paid.value(),
        sku,
        "archive " + sku);
    for (int daysAgo : List.of(1, 0)) {
      consumer.update(
          "INSERT INTO daily_audit SELECT UTC_DATE() - INTERVAL ? DAY, ?, 'CLOSED', 0, 0, 0, 0, 0,"
              + " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ?, '', NOW(6)",
          daysAgo,
          sku,
          3 + 5 * daysAgo);
    }

    Answer refused = archive();

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("NOT_AT_REST");
    assertThat(refused.text("detail"))
        .contains(
            "2 orders that may still be paid",
            "1 payments that the provider may still book",
            "1 open unexplained charges",
            "1 open dead letters",
            "1 compensations that Redis has not confirmed",
            "1 unfinished stock changes",
            "3 differences that its last audit has found");
    assertThat(consumer.product(sku, "archived")).isEqualTo("0");
    assertThat(rows("archive")).isZero();
    consumer.update("DELETE FROM unexplained_charge WHERE order_id = ?", paid.value());
    consumer.update("DELETE FROM dead_letter WHERE sku_id = ?", sku);
    consumer.update("DELETE FROM payment WHERE order_id = ?", paid.value());
    consumer.update("DELETE FROM compensation WHERE sku_id = ?", sku);
    consumer.update("DELETE FROM stock_change WHERE sku_id = ?", sku);
  }

  /** As when an order was missed, which has come into a list since the ledger was read. */
  @Test
  void namesMessagesThatTheLedgerDoesNotShow() {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();
    SaleRest real = consumer.bean(SaleRest.class);
    SaleRest rest =
        new SaleRest(real.jdbc(), real.ledgers(), SaleRestTest.lists(false), real.barriers());

    assertThat(rest.missing(List.of(ProductRows.find(consumer.sql(), sku).orElseThrow())))
        .containsExactly("messages of it may still be on their way");
  }

  /** An order of it is stored, it is extended, or a fallback begins, after it was found at rest. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "settled = settled + 1|settled = settled - 1|it has changed meanwhile",
        "closes_at = closes_at + INTERVAL 1 DAY|closes_at = closes_at - INTERVAL 1 DAY"
            + "|it has changed meanwhile",
        "decides = 'MYSQL', fallback = 'ACTIVE'|decides = 'REDIS', fallback = 'NO'"
            + "|a fallback has not ended",
      })
  void archivesNoSaleThatHasChangedMeanwhile(String change, String undo, String reason) {
    SaleInFlight.open(sku, 10, consumer, flood);
    close();

    Answer refused =
        eventually()
            .until(() -> archiveWhileItChanges(change, undo), answer -> answer.status() != 503);

    assertThat(refused.text()).contains("NOT_AT_REST", reason);
    assertThat(rows("archive")).isZero();
  }

  /** The answer is 503 when the lock was held for 3 s. */
  private Answer archiveWhileItChanges(String change, String undo) {
    try (RowLock held = consumer.lockProduct(sku)) {
      CompletableFuture<Answer> answer = CompletableFuture.supplyAsync(this::archive);
      String waiting = "%%products%%%d FOR UPDATE".formatted(sku);
      eventually().until(() -> answer.isDone() || consumer.executing(waiting).isPresent());
      held.execute("UPDATE products SET " + change + " WHERE sku_id = " + sku);
      held.commit();
      Answer given = Bounded.get(answer);
      consumer.update("UPDATE products SET " + undo + " WHERE sku_id = ?", sku);
      return given;
    }
  }
}
