package io.seckill.consumer.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.testing.InternalApi.Answer;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** When a fallback begins and ends, by itself and by operators. */
class FallbackControlIT extends SaleInFallback {

  /**
   * So that no more than its orders are counted, however long ago the last block was taken, and
   * each of them: the next block may be taken by a process whose clock is behind.
   */
  @ParameterizedTest(name = "the last block of ids {0} min ago, the process {1} min: {2} min")
  @CsvSource({
    "50000, 0, 0",
    "0, 60, 0",
    "50000, 60, 60",
    "120, 60, 60",
    "-42000000, 0, 0", // a clock was in the year 2106
    "0, -42000000, 0"
  })
  void beginsByTheTimeOfTheNextIds(int block, int process, int expected) {
    long now = System.currentTimeMillis();

    String entered = entered(now - block * 60_000L, Duration.ofMinutes(-process));

    long seconds =
        consumer.number("SELECT TIMESTAMPDIFF(SECOND, '" + entered + "', UTC_TIMESTAMP())");
    assertThat(Math.round(seconds / 60.0)).isEqualTo(expected);
  }

  /** MySQL may have been restored from a backup. */
  @Test
  void aFallbackHasAHigherTermThanAnyGatewayHasSeen() {
    long seen = term() + 100;
    fallback.beat(GATEWAY, 0, "USABLE", 60_000);
    String heard = "UPDATE gateway_node SET term = ?";

    long term =
        rolledBack(
            () -> {
              consumer.bean(FallbackDatabase.class).jdbc().sql(heard).param(seen).update();
              return consumer.bean(FallbackTable.class).enter("tester");
            });

    assertThat(term).isEqualTo(seen + 1);
  }

  /** A gateway that ran while MySQL was restored confirms nothing under a former term. */
  @ParameterizedTest(name = "while MySQL decides: {0}")
  @ValueSource(booleans = {false, true})
  void theTermIsNoLowerThanAGatewayHasSeen(boolean isInFallback) {
    if (isInFallback) {
      fallback.enterWith(GATEWAY, "");
    }
    String state = fallback.state();
    long seen = term() + 100;

    JsonNode answer = fallback.beat(2, seen, "USABLE", 60_000);

    assertThat(answer.path("term").longValue()).isEqualTo(seen);
    assertThat(fallback.beat(GATEWAY, 0, "USABLE", 60_000).path("term").longValue())
        .isEqualTo(seen);
    assertThat(term()).isEqualTo(seen);
    assertThat(fallback.state()).isEqualTo(state);
    assertThat(isInFallback ? fallback.buy(sku, 7) : "CONFIRMED").isEqualTo("CONFIRMED");
  }

  /** The next fallback would begin above it, and gateways could not report that one. */
  @ParameterizedTest
  @ValueSource(longs = {1_001, OrderMessage.MAX_COUNT, Long.MAX_VALUE / 2})
  void noTermIsTakenThatMySqlCannotHaveLost(long ahead) {
    long before = term();
    String path = "/internal/v1/gateways/" + "0".repeat(31) + "7";
    String body =
        """
        {"name":"gateway","fallback":"manual","term":%d,"redis":"USABLE","forMs":0,
         "breaker":"OPEN","failurePercent":0,"failuresPerSecond":0}
        """;

    Answer answer = consumer.api().put(path, body.formatted(before + ahead));

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.text()).contains("term");
    assertThat(term()).isEqualTo(before);
    assertThat(ledger.number("SELECT COUNT(*) FROM gateway_node")).isZero();
  }

  @Test
  void beginsAndEndsByItself() {
    double entered = consumer.counter("seckill.fallback.entered");
    whileBeating("UNUSABLE", 1_000, "ENTERING", "MYSQL");
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("automatic");
    fallback.awaitState("MYSQL");
    assertThat(consumer.counter("seckill.fallback.entered")).isEqualTo(entered + 1);
    long term = fallback.view().path("term").longValue();
    fallback.transfer(1, term, "");
    fallback.transfer(2, term, "");

    fallback.beat(1, 1, "USABLE", 9_000);
    fallback.gatewaysStayAlive();
    fallback.beat(2, 1, "USABLE", 10_000);
    fallback.gatewaysStayAlive();
    tick();
    assertThat(fallback.state()).isEqualTo("MYSQL");

    whileBeating("USABLE", 10_000, "REDIS");
    assertThat(fallback.product(sku, "CONCAT_WS(' ', decides, fallback, epoch)"))
        .isEqualTo("REDIS NO 3");
    fallback.assertStoresAgree(sku);
  }

  @Test
  void aGatewayWithoutFallbackPreventsIt() {
    fallback.beat(1, "off", 0, "UNUSABLE", 5_000);
    fallback.gatewaysStayAlive();
    fallback.beat(2, 0, "UNUSABLE", 5_000);
    fallback.gatewaysStayAlive();

    tick();
    Answer refused = consumer.api().post(FallbackFixture.FALLBACK + "/enter", "{}");

    assertThat(fallback.state()).isEqualTo("REDIS");
    assertThat(refused.code()).isEqualTo("REFUSED");
    assertThat(refused.text()).contains("gateway-1:8080");
  }

  @Test
  void isBegunOnceAndEndedByAnOperator() {
    assertThat(fallback.leave().code()).isEqualTo("REFUSED");

    long term = fallback.enter();
    Answer again = consumer.api().post(FallbackFixture.FALLBACK + "/enter", "{}");
    assertThat(again.status()).isEqualTo(409);
    assertThat(again.code()).isEqualTo("REFUSED");
    fallback.awaitState("MYSQL");
    assertThat(fallback.view().path("startedBy").asString()).isEqualTo("tester");
    assertThat(fallback.number(sku, "epoch")).isEqualTo(2);

    fallback.beat(1, 1, "UNUSABLE", 0);
    fallback.gatewaysStayAlive();
    assertThat(fallback.leave().code()).isEqualTo("REFUSED");
    fallback.beat(1, 1, "USABLE", 60_000);
    fallback.gatewaysStayAlive();
    tick();
    assertThat(fallback.state()).isEqualTo("MYSQL");
    assertThat(fallback.leave().text()).contains("gateway-1:8080 has not transferred");
    fallback.transfer(1, term, "");
    fallback.leaveSoon();
    fallback.awaitState("REDIS");
  }

  /** MySQL's clock is set back by an hour just after its last heartbeat. */
  @Test
  void aDeadGatewayDoesNotCountUntilTheClockHasCaughtUp() {
    fallback.beat(2, 0, "USABLE", 60_000);
    fallsSilent(2, -3_600);

    eventually()
        .untilAsserted(
            () -> {
              fallback.beat(GATEWAY, 0, "UNUSABLE", 5_000);
              assertThat(fallback.state()).isNotEqualTo("REDIS");
            });
  }

  @Test
  void operatorsSeeSomeOfMoreSalesAndFirstThoseWithAReserve() {
    long last = NEXT_SKU.addAndGet(250);
    execute(
        LongStream.rangeClosed(last - 249, last)
            .mapToObj(
                id ->
                    "(%d, 'n', 1, 9, 9, 'LIMITED', 1, NOW(), NOW(), 'CLOSED', 'ACTIVE', %d)"
                        .formatted(id, id > last - 2 ? 4 : 0))
            .collect(
                Collectors.joining(
                    ",",
                    "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                        + " limit_per_user, opens_at, closes_at, state, fallback, reserved_units)"
                        + " VALUES ",
                    "")));
    try {
      JsonNode view = fallback.view();

      assertThat(view.path("sales").size()).isEqualTo(200);
      assertThat(view.path("sales").path(0).path("skuId").longValue()).isEqualTo(last - 1);
      assertThat(view.path("sales").path(2).path("skuId").longValue()).isEqualTo(last - 249);
      assertThat(view.path("salesInFallback").longValue()).isEqualTo(250);
      assertThat(view.path("reservedUnits").longValue()).isEqualTo(8);
    } finally {
      execute(
          "DELETE FROM products WHERE sku_id > %d AND sku_id <= %d".formatted(last - 250, last));
    }
  }

  @Test
  void gatewaysGetTheSettings() {
    String settings = FallbackFixture.FALLBACK + "/settings";
    String good = "{\"failurePercent\":60,\"failuresPerSecond\":4}";

    assertThat(consumer.api().put(settings, good).body().path("failurePercent").intValue())
        .isEqualTo(60);
    assertThat(fallback.beat(GATEWAY, 0, "USABLE", 0).path("failuresPerSecond").intValue())
        .isEqualTo(4);
    execute("UPDATE fallback SET failure_percent = 50, failures_per_second = 3");
  }

  @ParameterizedTest
  @CsvSource({
    "0000000000000000000000000000000G, 400",
    "00000000000000000000000000000001, 200",
  })
  void aTokenHas32HexadecimalDigits(String token, int status) {
    assertThat(
            consumer
                .api()
                .put(
                    "/internal/v1/gateways/" + token,
                    """
                    {"name":"gateway","fallback":"manual","term":0,"redis":"USABLE","forMs":0,
                     "breaker":"OPEN","failurePercent":0,"failuresPerSecond":0}
                    """)
                .status())
        .isEqualTo(status);
  }
}
