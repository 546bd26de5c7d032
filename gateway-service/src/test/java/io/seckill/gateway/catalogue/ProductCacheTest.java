package io.seckill.gateway.catalogue;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.support.contract.ProductRow;
import io.seckill.testing.Bounded;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

class ProductCacheTest {

  private static final Duration SOON = Duration.ofSeconds(60);

  private final HangingDatabase mysql = new HangingDatabase();
  private final ProductCache products = new ProductCache(JdbcClient.create(mysql));

  @AfterEach
  void stop() {
    mysql.answer.countDown();
    products.stop();
  }

  @Test
  void keepsABoundedNumberOfRequestsWaitingWhileMySqlHangs() {
    products.start();
    Bounded.await(mysql.asked);

    List<CompletableFuture<ProductRow>> flood =
        LongStream.rangeClosed(1, 5 * NextReading.MOST_WAITING)
            .mapToObj(sku -> products.find(sku).toFuture())
            .toList();

    assertThat(flood.stream().filter(one -> !one.isDone()))
        .as("none waits for longer than three seconds")
        .hasSizeLessThanOrEqualTo(NextReading.MOST_WAITING);

    mysql.answer.countDown();
    assertThat(flood).allSatisfy(one -> assertThat(one).failsWithin(SOON));
  }

  /** Anybody can invent SKUs; operators wait for a read after each change. */
  @Test
  void inventedSkusTakeNoPlaceOfAnOperator() {
    eventually() // none waits for longer than three seconds
        .untilAsserted(
            () -> {
              ProductCache answered = TestProducts.unread(false);
              LongStream.rangeClosed(1, NextReading.MOST_WAITING)
                  .forEach(sku -> answered.find(2_000 + sku).subscribe(found -> {}, failure -> {}));
              assertReadsAgain(answered);
            });
  }

  /** All that wait for a read wait for the same one. */
  @Test
  void aRequestThatLeavesEndsTheReadForNobodyElse() {
    eventually() // as above
        .untilAsserted(
            () -> {
              ProductCache answered = TestProducts.unread(false);
              answered.find(2_001).subscribe().dispose();
              assertReadsAgain(answered);
            });
  }

  private static void assertReadsAgain(ProductCache unread) {
    CompletableFuture<Void> again = unread.readAgain().toFuture();
    unread.start();
    try {
      assertThat(again).succeedsWithin(SOON);
    } finally {
      unread.stop();
    }
  }

  @ParameterizedTest
  @CsvSource({"1,", ", 1"})
  void aReadIsAwaitedByABoundedNumberOfRequests(@Nullable Long sku, @Nullable Long other) {
    Set<Long> skus = sku == null ? Set.of() : Set.of(sku);
    Set<Long> others = other == null ? Set.of() : Set.of(other);
    NextReading next = new NextReading();
    for (int i = 0; i < NextReading.MOST_WAITING; i++) {
      assertThat(next.await(skus)).isNotNull();
    }

    assertThat(next.await(skus)).isNull();
    assertThat(next.await(others)).isNotNull();
    next.begin();
    assertThat(next.await(skus)).as("the next one").isNotNull();
  }

  @Test
  void readsAgainAfterAnError() {
    CountDownLatch asked = new CountDownLatch(2);
    DataSource failing =
        new DelegatingDataSource() {
          @Override
          public Connection getConnection() {
            asked.countDown();
            throw new StackOverflowError("for the test");
          }
        };
    ProductCache cache = new ProductCache(JdbcClient.create(failing));
    cache.start();

    Bounded.await(asked);
    cache.stop();
  }

  @Test
  void makesUpForNoReadThatItMissed() {
    products.start();
    Bounded.await(mysql.asked);
    long start = mysql.begunNanos.get(0);
    eventually("two reads are missed")
        .until(() -> System.nanoTime() - start > Duration.ofMillis(2_100).toNanos());

    mysql.answer.countDown();

    eventually().until(() -> mysql.begunNanos.size() >= 3);
    assertThat(Duration.ofNanos(mysql.begunNanos.get(2) - mysql.begunNanos.get(1)))
        .isGreaterThan(Duration.ofMillis(900));
  }

  /** Each request wants the next read at once. */
  @Test
  void readsFourTimesASecondAtMostAlsoWhileReadsFail() {
    mysql.answer.countDown();
    long start = System.nanoTime();
    products.start();

    eventually()
        .until(
            () -> {
              products.find(1).subscribe(found -> {}, failure -> {});
              return mysql.begunNanos.size() >= 5;
            });

    assertThat(Duration.ofNanos(mysql.begunNanos.get(4) - start))
        .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
  }

  /** Hangs until it is to fail. */
  private static final class HangingDatabase extends AbstractDataSource {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch answer = new CountDownLatch(1);
    private final List<Long> begunNanos = new CopyOnWriteArrayList<>();

    @Override
    public Connection getConnection() throws SQLException {
      begunNanos.add(System.nanoTime());
      asked.countDown();
      Bounded.await(answer);
      throw new SQLException("gone");
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return getConnection();
    }
  }
}
