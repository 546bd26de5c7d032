package io.seckill.consumer.products;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleExpiry;
import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.test.util.ReflectionTestUtils;

class ProductTest {

  private static final Instant OPENING = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant CLOSING = Instant.parse("2036-01-01T00:00:00Z");
  private static final Duration RETENTION = Duration.ofDays(2);

  private static ProductRules rules(Decider decider, long stock, String name, Instant closing) {
    return new ProductRules(
        name, 9_900, stock, PurchasePolicy.LIMITED, 2, decider, OPENING, closing, 1);
  }

  private static Product product(Decider decider) {
    return new Product(1001, rules(decider, 500, "Phone", CLOSING));
  }

  @ParameterizedTest
  @EnumSource(Decider.class)
  void beforeTheFirstPreheatAnEditTakesEverything(Decider decider) {
    PurchasePolicy one = PurchasePolicy.ONE_PER_USER;
    ProductRules wanted = new ProductRules("Radio", 100, 70, one, 1, decider, OPENING, OPENING, 1);

    ProductRow edited = product(Decider.REDIS).edit(wanted, false).row();

    assertThat(edited.priceCents()).isEqualTo(100);
    assertThat(edited.stock()).isEqualTo(70);
    assertThat(edited.initialStock()).isEqualTo(70);
    assertThat(edited.policy()).isEqualTo(one);
    assertThat(edited.name()).isEqualTo("Radio");
    assertThat(edited.closesAt()).isEqualTo(OPENING);
    assertThat(edited.decides()).isEqualTo(decider);
    assertThat(edited.stateVersion()).isZero();
  }

  @Test
  void aStrongSaleHasNoShards() {
    ProductRules wanted =
        new ProductRules(
            "Phone", 9_900, 500, PurchasePolicy.LIMITED, 2, Decider.MYSQL, OPENING, CLOSING, 4);

    assertThatThrownBy(() -> new Product(1001, wanted))
        .isInstanceOfSatisfying(
            ProblemException.class,
            refused -> assertThat(refused.problem().field()).isEqualTo("shards"));
  }

  /** Purchases of a strong sale that are decided meanwhile used the old closing time. */
  @ParameterizedTest
  @CsvSource({"REDIS, 1", "MYSQL, 2"})
  void afterThePreheatAnEditTakesNameAndClosingTime(Decider decider, long stateVersion) {
    Product product = product(decider).preheat(100, RETENTION, 0, 0);

    ProductRow edited =
        product.edit(rules(decider, 500, "Radio", CLOSING.plusMillis(1)), false).row();

    assertThat(edited.name()).isEqualTo("Radio");
    assertThat(edited.closesAt()).isEqualTo(CLOSING.plusMillis(1));
    assertThat(edited.stateVersion()).isEqualTo(stateVersion);
  }

  @ParameterizedTest
  @CsvSource({
    "priceCents, 9901, 500, LIMITED, 2, REDIS, 0, 0, 1",
    "stock, 9900, 501, LIMITED, 2, REDIS, 0, 0, 1",
    "policy, 9900, 500, ONE_PER_USER, 1, REDIS, 0, 0, 1",
    "limitPerUser, 9900, 500, LIMITED, 3, REDIS, 0, 0, 1",
    "decides, 9900, 500, LIMITED, 2, MYSQL, 0, 0, 1",
    "opensAt, 9900, 500, LIMITED, 2, REDIS, 1, 0, 1",
    "closesAt, 9900, 500, LIMITED, 2, REDIS, 0, -1, 1",
    "shards, 9900, 500, LIMITED, 2, REDIS, 0, 0, 2"
  })
  void afterThePreheatARefusedEditNamesItsFieldAndChangesNothing(
      String field,
      int cents,
      long stock,
      PurchasePolicy policy,
      int limit,
      Decider decider,
      int opensLater,
      int closesLater,
      int shards) {
    Product product = product(Decider.REDIS).preheat(100, RETENTION, 0, 0);
    ProductRow before = product.row();
    ProductRules wanted =
        new ProductRules(
            "Radio",
            cents,
            stock,
            policy,
            limit,
            decider,
            OPENING.plusMillis(opensLater),
            CLOSING.plusMillis(closesLater),
            shards);

    assertThatThrownBy(() -> product.edit(wanted, false))
        .isInstanceOfSatisfying(
            ProblemException.class,
            refused -> {
              assertThat(refused.problem().code()).isEqualTo(ProblemCode.IMMUTABLE_AFTER_PREHEAT);
              assertThat(refused.problem().field()).isEqualTo(field);
            });
    assertThat(product.row()).isEqualTo(before);
  }

  /** MySQL was restored from a backup that is older than the first preheat. */
  @ParameterizedTest
  @CsvSource({"3, 497, false", "0, 500, true"})
  void anEditOfANewProductWhosePreheatIsLostReturnsNoUnits(
      long settled, long stock, boolean isInRedis) {
    Product product = product(Decider.REDIS);
    ReflectionTestUtils.setField(product, "settled", settled); // as statements raise it
    ReflectionTestUtils.setField(product, "stock", stock);

    ProductRow edited = product.edit(rules(Decider.REDIS, 500, "Radio", CLOSING), isInRedis).row();

    assertThat(edited.name()).isEqualTo("Radio");
    assertThat(edited.stock()).isEqualTo(stock);
    assertThatThrownBy(() -> product.edit(rules(Decider.REDIS, 501, "Radio", CLOSING), isInRedis))
        .isInstanceOfSatisfying(
            ProblemException.class,
            refused -> assertThat(refused.problem().field()).isEqualTo("stock"));
  }

  @Test
  void aPreheatBeginsAnEpoch() {
    Product product = product(Decider.REDIS).preheat(100, RETENTION, 7, 0);
    ReflectionTestUtils.setField(product, "changeSeq", 3); // as statements raise it

    ProductRow row = product.preheat(100, RETENTION, 9, 1).row();

    assertThat(row.state()).isEqualTo(SaleState.PREHEATED);
    assertThat(row.epoch()).isEqualTo(2);
    assertThat(row.stateVersion()).isEqualTo(2);
    assertThat(row.lastSeq()).isEqualTo(9);
    assertThat(row.settled()).isEqualTo(9);
    assertThat(product.changeSeq()).isZero();
    assertThat(product.expiry()).isEqualTo(SaleExpiry.of(product.closesAt(), RETENTION));
  }

  /** One that is too far ahead is wrong. */
  @ParameterizedTest
  @CsvSource({"0, 1", "4, 5", "999999999999999999, 1000000001"})
  void aPreheatBeginsAnEpochAboveThatOfRedis(long known, long epoch) {
    assertThat(product(Decider.REDIS).preheat(100, RETENTION, 0, known).epoch()).isEqualTo(epoch);
  }

  /** Redis may have a later number, when MySQL was restored from a backup. */
  @ParameterizedTest
  @CsvSource({
    "OPEN, 0, OPEN, 2",
    "OPEN, 9, OPEN, 10",
    "PAUSED, 0, PREHEATED, 1",
    "CLOSED, 9, CLOSED, 10",
    "PREHEATED, 9, PREHEATED, 1"
  })
  void aStateChangesOnlyAlongItsTransitions(
      SaleState target, long known, SaleState state, long stateVersion) {
    ProductRow row = product(Decider.REDIS).preheat(100, RETENTION, 0, 0).move(target, known).row();

    assertThat(row.state()).isEqualTo(state);
    assertThat(row.stateVersion()).isEqualTo(stateVersion);
  }
}
