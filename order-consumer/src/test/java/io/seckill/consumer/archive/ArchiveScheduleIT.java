package io.seckill.consumer.archive;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.runtime.SweeperPauses;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.SaleInFlight;
import io.seckill.consumer.testing.Sales;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** Sales whose time has come are archived, none keeps another waiting. */
@ExtendWith(TestServers.class)
class ArchiveScheduleIT extends FinishedSales {

  @Test
  void anArchiveThatFailsKeepsNoOtherWaiting() {
    List<Long> tried = new ArrayList<>();
    ArchiveTable table =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
          @Override
          List<Long> unfinished() {
            return List.of(1L, 2L);
          }

          @Override
          Optional<SaleArchive> find(long each) {
            tried.add(each);
            throw new IllegalStateException("for the test");
          }
        };

    roundUntil(archiver(table), () -> !tried.isEmpty());

    assertThat(tried).containsExactly(1L, 2L);
  }

  @Test
  void archivesByItselfWhenTheTimeHasCome() {
    SaleInFlight.open(sku, 10, consumer, flood);
    SaleArchiver archiver = consumer.bean(SaleArchiver.class);
    archiver.beginDue(Duration.ofDays(7));
    assertThat(rows("archive")).isZero();
    closedLongAgo(sku);
    archiver.beginDue(Duration.ZERO);
    assertThat(rows("archive")).as("no sale is archived by itself").isZero();

    Sweeper sweeper =
        archiver.dueArchivesSweeper(new ArchiveProperties(Duration.ofDays(7), Duration.ZERO));
    eventually()
        .until(
            () -> {
              SweeperPauses.round(sweeper);
              return rows("archive") == 1;
            });
    assertThat(archive().text("startedBy")).isEqualTo("schedule");
    assertThat(consumer.product(sku, "state")).isEqualTo("CLOSED");
  }

  /** MySQL's may be wrong, as after the promotion of a standby; nothing brings the sale back. */
  @ParameterizedTest(name = "closed {0} days ago by MySQL's clock, this process is {1} days ahead")
  @CsvSource({"8, -2", "-1, 30"})
  void aSaleStaysOpenUntilItsTimeHasComeByBothClocks(int closedDaysAgo, int daysAhead) {
    SaleInFlight.open(sku, 10, consumer, flood);
    consumer.update(
        "UPDATE products SET closes_at = NOW() - INTERVAL ? DAY WHERE sku_id = ?",
        closedDaysAgo,
        sku);
    Clock other = Clock.offset(Clock.systemUTC(), Duration.ofDays(daysAhead));

    archiver(new ArchiveTable(consumer.sql(), other)).beginDue(Duration.ofDays(7));

    assertThat(consumer.product(sku, "state")).isEqualTo("OPEN");
    assertThat(rows("archive")).isZero();
    close();
  }

  /** Each sale waited for a connection. */
  @Test
  void beginsNoFurtherArchiveWhileMySqlIsAway() {
    SaleInFlight.open(sku, 10, consumer, flood);
    closedLongAgo(sku);
    ArchiveTable twice =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
          @Override
          List<DueSale> due(Duration after, DueSale last, int limit) {
            List<DueSale> mine =
                super.due(after, last, limit).stream().filter(sale -> sale.skuId() == sku).toList();
            return Stream.of(mine, mine).flatMap(List::stream).toList();
          }
        };
    AtomicInteger asked = new AtomicInteger();
    DataSource away =
        new AbstractDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            asked.incrementAndGet();
            throw new SQLException("for the test");
          }

          @Override
          public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
          }
        };
    SaleArchiver archiver =
        archiver(twice, consumer.bean(ArchiveSteps.class), JdbcClient.create(away));

    assertThatThrownBy(() -> archiver.beginDue(Duration.ofDays(7)))
        .isInstanceOf(CannotGetJdbcConnectionException.class);

    assertThat(asked).hasValue(1);
  }

  /** It was preheated again after its end, and never opened. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void archivesASaleThatIsPreheatedByItself(int shards) {
    String path = "/internal/v1/skus/" + sku;
    String inShards = "\"shards\":%d,\"stock\"".formatted(shards);
    InternalApi api = consumer.api();
    api.put(path, Sales.product("ONE_PER_USER", 1, 402).replace("\"stock\"", inShards));
    api.post(path + "/preheat");
    api.post(path + "/open");
    close();
    assertThat(api.post(path + "/preheat").text("state")).isEqualTo("PREHEATED");
    closedLongAgo(sku);
    Shards.ids(sku, shards).forEach(SaleArchiveIT::closedLongAgo);

    eventually()
        .until(
            () -> {
              consumer.bean(SaleArchiver.class).beginDue(Duration.ofDays(7));
              return rows("archive") == 1;
            });

    assertThat(archive().text("startedBy")).isEqualTo("schedule");
    assertThat(consumer.product(sku, "state")).isEqualTo("CLOSED");
    finish();
  }

  /** Sales before it on its page may take minutes. */
  @ParameterizedTest
  @ValueSource(strings = {"PREHEATED", "CLOSED"})
  void aSaleThatIsExtendedBeforeItsTurnIsLeftAlone(String state) {
    String path = "/internal/v1/skus/" + sku;
    String product = Sales.product("ONE_PER_USER", 1, 10);
    InternalApi api = consumer.api();
    api.put(path, product);
    api.post(path + "/preheat");
    close();
    closedLongAgo(sku);
    ArchiveTable table =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
          @Override
          List<DueSale> due(Duration after, DueSale last, int limit) {
            List<DueSale> page = super.due(after, last, limit);
            assertThat(page).extracting(DueSale::skuId).contains(sku);
            assertThat(api.put(path, product).status()).isEqualTo(200);
            if (state.equals("PREHEATED")) {
              assertThat(api.post(path + "/preheat").text("state")).isEqualTo(state);
            }
            return page;
          }
        };

    archiver(table).beginDue(Duration.ofDays(7));

    assertThat(consumer.product(sku, "state")).isEqualTo(state);
    assertThat(rows("archive")).isZero();
    close();
  }

  /** Before it is read again, which is after the transaction that closes it. */
  @Test
  void aSaleThatIsExtendedRightAfterItWasClosedIsNotArchived() {
    String path = "/internal/v1/skus/" + sku;
    String product = Sales.product("ONE_PER_USER", 1, 10);
    InternalApi api = consumer.api();
    api.put(path, product);
    api.post(path + "/preheat");
    close();
    SaleArchiver real = consumer.bean(SaleArchiver.class);
    eventually("at rest")
        .until(
            () -> real.rest().missing(List.of(ProductRows.find(real.jdbc(), sku).orElseThrow())),
            List::isEmpty);
    closedLongAgo(sku);
    ArchiveTable table =
        new ArchiveTable(consumer.sql(), Clock.systemUTC()) {
          @Override
          List<DueSale> due(Duration after, DueSale last, int limit) {
            return super.due(after, last, limit).stream()
                .filter(sale -> sale.skuId() == sku)
                .toList();
          }
        };
    List<Integer> edits = new ArrayList<>();
    JdbcClient extendsFirst =
        statement -> {
          if (edits.isEmpty()) {
            edits.add(api.put(path, product).status());
          }
          return real.jdbc().sql(statement);
        };

    archiver(table, real.steps(), extendsFirst).beginDue(Duration.ofDays(7));

    assertThat(edits).containsExactly(200);
    assertThat(rows("archive")).isZero();
  }

  @Test
  void aPageOfSalesThatCannotBeArchivedKeepsNoOtherFromIt() {
    long other = NEXT_SKU.getAndIncrement();
    String closes = "UPDATE products SET closes_at = NOW() - INTERVAL ? DAY WHERE sku_id = ?";
    for (long each : List.of(sku, other)) {
      SaleInFlight.open(each, 10, consumer, flood);
      consumer.update(closes, each == sku ? 9 : 8, each);
    }
    stored.confirmed(sku, 7, 1);

    eventually()
        .until(
            () -> {
              consumer.bean(SaleArchiver.class).beginDue(Duration.ofDays(7), 1);
              return consumer.number("SELECT COUNT(*) FROM archive WHERE sku_id = ?", other) == 1;
            });
    assertThat(rows("archive")).isZero();
    consumer.update(closes, 0, sku);
    finish(other);
  }
}
