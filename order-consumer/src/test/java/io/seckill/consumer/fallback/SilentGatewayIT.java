package io.seckill.consumer.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.FallbackMode;
import io.seckill.consumer.testing.AdmittedSale;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A gateway that falls silent may have promised units that MySQL does not have. */
class SilentGatewayIT extends SaleInFallback {

  /** What a process read last may lack it. */
  @ParameterizedTest(name = "Redis has its data: {0}; {1} reserved")
  @CsvSource({"false, 16", "true, 5"})
  void aGatewayThatFallsSilentWhileMySqlDecidesLeavesWhatRedisHasPromised(
      boolean isIntact, long reserved) {
    String kept =
        "SELECT units + 100 * unknown_orders FROM admitted_units WHERE epoch = 1 AND sku_id = "
            + sku;
    beginWithUnknownOrders();
    if (!isIntact) {
      sale.forget();
      awaitLook(0);
    }

    fallsSilent(2, 36);
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isOne());
    tick();

    assertThat(fallback.number(sku, "reserved_units")).as("promised units").isEqualTo(reserved);
    assertThat(ledger.number(kept)).isEqualTo(isIntact ? 9 : 109);
  }

  /** It may lack orders that the broker has, whose numbers nobody else has seen. */
  @Test
  void aLookAtAServerThatIsNotProvenLeavesOrdersUnknown() {
    String kept =
        "SELECT units + 100 * unknown_orders FROM admitted_units WHERE epoch = 1 AND sku_id = "
            + sku;
    eventually().until(() -> ledger.number("SELECT COUNT(*) FROM redis_server") == 16);
    beginWithUnknownOrders();
    consumer.asRoot(
        "CREATE TRIGGER refusal BEFORE INSERT ON redis_server FOR EACH ROW"
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not proven yet'");
    try {
      execute(
          "UPDATE redis_server SET replication_id = 'another' WHERE partition_no = MOD(%d, 16)"
              .formatted(sku));
      sale.admit(10, 1);
      awaitLook(10);
      sale.admit(11, 1);
      awaitLook(11); // one that began before has ended

      fallsSilent(2, 36);
      eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isOne());
      tick();

      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
      assertThat(ledger.number(kept)).isEqualTo(109);
    } finally {
      consumer.asRoot("DROP TRIGGER refusal");
    }
    eventually("the proof").until(() -> ledger.number(kept) == 11);
  }

  /** Nothing is read of it in Redis; its closing time may be put off, and a process starts anew. */
  @Test
  void aSaleThatIsOverKeepsTheReserveOfAGatewayThatFallsSilent() {
    beginWithUnknownOrders();
    sale.forget();
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + sku);
    SaleObservations looks = consumer.bean(SaleObservations.class);
    eventually().until(() -> looks.of(sku).isEmpty()); // one that began before has ended

    fallsSilent(2, 36);
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isOne());
    tick();

    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    extend();
    awaitLook(0);
    GatewayTable gateways = consumer.bean(GatewayTable.class);
    new FallbackActivation(
            consumer.bean(FallbackTable.class),
            consumer.bean(FallbackSales.class),
            gateways,
            looks,
            consumer.bean(FallbackDatabase.class))
        .reduceReserves(gateways.overview());
    assertThat(fallback.number(sku, "reserved_units")).as("extended").isEqualTo(16);
    assertThat(consumer.bean(FallbackSales.class).allReserved())
        .as("to be changed by each step")
        .doesNotContain(sku);
  }

  /** The same process has freed all others before. */
  @Test
  void aSaleThatWasOverIsFreedOnceItIsExtended() {
    beginWithUnknownOrders();
    execute("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = " + sku);

    assertThat(fallback.end(2).status()).isEqualTo(204); // it has transferred the rest
    tick();
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    extend();
    tick();

    assertThat(fallback.number(sku, "reserved_units")).as("promised units").isEqualTo(5);
    assertThat(fallback.buy(sku, 101)).isEqualTo("CONFIRMED");
  }

  private void extend() {
    execute(
        "UPDATE products SET closes_at = UTC_TIMESTAMP(3) + INTERVAL 1 DAY WHERE sku_id = " + sku);
  }

  /** A process without fallback removes gateways too, and reads nothing of Redis. */
  @Tag("proof")
  @Test
  void aGatewayThatIsRemovedWithoutALookLeavesItsReserve() {
    SaleObservations off = observations(FallbackMode.OFF, consumer.redis());
    beginWithUnknownOrders();
    allowLooks(false);
    try {
      SaleObservations on = consumer.bean(SaleObservations.class);
      eventually().until(() -> !on.isRedisReached());
      fallsSilent(2, 61);
      off.round();
      assertThat(fallback.view().path("gateways").size()).isOne();
      tick();

      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
    } finally {
      allowLooks(true);
    }
  }

  /** A sale that is over during a fallback may be extended. */
  @ParameterizedTest(name = "in a fallback, and over: {0}")
  @ValueSource(booleans = {false, true})
  void aGatewayThatIsRemovedWithoutALookLeavesUnknownOrders(boolean isOver) {
    SaleObservations off = observations(FallbackMode.OFF, consumer.redis());
    JdbcClient mysql = consumer.bean(FallbackDatabase.class).jdbc();
    fallback.beat(GATEWAY, 0, "USABLE", 0);

    String kept =
        rolledBack(
            () -> {
              mysql.sql("UPDATE gateway_node SET heard_at = NOW(6) - INTERVAL 61 SECOND").update();
              if (isOver) {
                mysql
                    .sql(
                        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', epoch = 2,"
                            + " closes_at = UTC_TIMESTAMP(3) WHERE sku_id = ?")
                    .param(sku)
                    .update();
              }
              off.round();
              return mysql
                  .sql(
                      "SELECT CONCAT_WS(' ', epoch, units, unknown_orders,"
                          + " (SELECT COUNT(*) FROM gateway_node)) FROM admitted_units"
                          + " WHERE sku_id = ?")
                  .param(sku)
                  .query(String.class)
                  .optional()
                  .orElse("none");
            });

    assertThat(kept).as("epoch, units, unknown orders, gateways").isEqualTo("1 0 1 0");
  }

  /**
   * Its heartbeats have never ceased, and it would not transfer again what MySQL then waits for.
   */
  @ParameterizedTest
  @EnumSource(
      value = FallbackMode.class,
      names = {"AUTOMATIC", "OFF"})
  void aGatewayIsNotForgottenWhenMySqlsClockJumpsAhead(FallbackMode mode) {
    AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);
    GatewayTable jumping =
        new GatewayTable(consumer.bean(FallbackDatabase.class)) {
          @Override
          Instant now() {
            return super.now().plus(ahead.get());
          }
        };
    SaleObservations looks = observations(mode, consumer.redis(), jumping);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    fallback.gatewaysStayAlive();
    looks.round();

    ahead.set(Duration.ofHours(1));
    looks.round();

    assertThat(fallback.view().path("gateways").size()).isOne();
  }

  /** Its machine has slept. It has noticed nothing, and would not transfer for this term again. */
  @Test
  void aGatewayThatWasRemovedLearnsThatItsTransferIsForgotten() {
    fallback.enterWith(GATEWAY, "");
    long term = term();
    assertThat(termTransferred(term)).isEqualTo(term);
    fallsSilent(GATEWAY, 36);
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isZero());

    assertThat(termTransferred(term)).isZero();
    assertThat(fallback.leave().text()).contains("has not transferred");
    fallback.transfer(GATEWAY, term, "");

    assertThat(termTransferred(term)).isEqualTo(term);
    fallback.leaveSoon();
    fallback.awaitState("REDIS");
  }

  /** As the answer to a heartbeat says. */
  private static long termTransferred(long term) {
    long transferred = fallback.beat(GATEWAY, term, "USABLE", 0).path("transferred").longValue();
    fallback.gatewaysStayAlive();
    return transferred;
  }

  /** What keeps it from returning, such as a broker that is away, may last. */
  @Test
  void aGatewayThatFallsSilentWhileTheSaleIsToReturnLeavesWhatRedisHasPromised() {
    beginWithUnknownOrders();
    try {
      leaveWithoutReturning();
      fallsSilent(2, 36);

      eventually().until(() -> fallback.number(sku, "reserved_units") == 5);
      assertThat(fallback.state()).isEqualTo("RETURNING");
      assertThat(buyFive(101)).isEqualTo("CONFIRMED");
    } finally {
      consumer.redis().del(RedisKeys.stock(sku));
    }
    fallback.awaitState("REDIS");
  }

  @Test
  void aGatewayThatIsSilentIsLetGoAfterALookAtRedis() {
    sale.admit(7, 4);
    awaitLook(4); // a round under way may have looked before
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    execute("UPDATE gateway_node SET heard_at = heard_at - INTERVAL 36 SECOND");

    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isZero());

    assertThat(
            ledger.number("SELECT units FROM admitted_units WHERE epoch = 1 AND sku_id = " + sku))
        .isEqualTo(4);
  }

  @Tag("proof")
  @Test
  void aGatewayThatDiedLeavesItsReserveWithTheSalesThatRedisHasLost() {
    AdmittedSale lost =
        new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
    lost.admit(7, 4);
    awaitLook(lost.sku, 4);
    execute("UPDATE products SET last_seq = 5 WHERE sku_id = " + lost.sku);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    execute("UPDATE gateway_node SET heard_at = heard_at - INTERVAL 36 SECOND");
    eventually().untilAsserted(() -> assertThat(fallback.view().path("gateways").size()).isZero());

    fallback.enter();
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(sku, "reserved_units")).isZero();
    assertThat(fallback.number(lost.sku, "reserved_units")).isEqualTo(20);

    fallback.comeBack();
    fallback.enter();
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(lost.sku, "reserved_units")).as("in another epoch").isZero();
    fallback.comeBack();
    execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + lost.sku);
    lost.forget();
  }
}
