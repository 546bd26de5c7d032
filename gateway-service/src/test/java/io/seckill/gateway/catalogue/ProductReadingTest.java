package io.seckill.gateway.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.support.contract.ProductRow;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCreator;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;

class ProductReadingTest {

  private static final long OF_REDIS = 1;
  private static final long OF_MYSQL = 2;
  private static final long WITH_DEAD_LETTER = 3;
  private static final long UNKNOWN = 4;
  private static final long LAST_SEQ = 40;

  @ParameterizedTest
  @CsvSource({
    "0, 1, 40, true",
    "0, 1, 41, false",
    "0, 3, 41, true",
    "0, 4, 41, true",
    "3, 1, 41, true"
  })
  void showsWhichAdmissionsMySqlMayHave(long ageSeconds, long sku, long seq, boolean may) {
    assertThat(reading(Duration.ofSeconds(ageSeconds)).mayHaveStored(sku, seq)).isEqualTo(may);
  }

  @ParameterizedTest
  @CsvSource({"0, 1, 5, true", "0, 1, 6, false", "0, 2, 5, false", "3, 1, 5, false"})
  void showsThatRedisDecidesOnlyWhileItIsFresh(long ageSeconds, long sku, long term, boolean is) {
    assertThat(reading(Duration.ofSeconds(ageSeconds)).isOfRedis(sku, term)).isEqualTo(is);
  }

  @Test
  void showsUnitsOnlyWhileItIsFresh() {
    assertThat(reading(Duration.ZERO).fresh(OF_REDIS)).isNotNull();
    assertThat(reading(Duration.ZERO).fresh(UNKNOWN)).isNull();
    assertThat(reading(Duration.ofSeconds(3)).fresh(OF_REDIS)).isNull();
  }

  @Test
  void decidesByTheLastReadHoweverOld() {
    ProductReading old = reading(Duration.ofHours(1));

    assertThat(old.isUsable()).isFalse();
    assertThat(old.decides(OF_MYSQL)).isEqualTo(Decider.MYSQL);
    assertThat(old.decides(OF_REDIS)).isEqualTo(Decider.REDIS);
    assertThat(old.decides(UNKNOWN)).isEqualTo(Decider.REDIS);
    assertThat(reading(Duration.ofMinutes(4)).isUsable()).isTrue();
  }

  @Test
  void aSkuWithShardsIsShownOnceAndItsShardsAreThere() {
    long sku = 21;
    Map<Long, ProductRow> rows = new HashMap<>();
    rows.put(sku, product(sku, Decider.REDIS));
    rows.put(OF_MYSQL, product(OF_MYSQL, Decider.MYSQL));
    Shards.ids(sku, 4).forEach(id -> rows.put(id, product(id, Decider.REDIS)));

    ProductReading reading =
        new ProductReading(
            System.nanoTime(), rows, Map.of(sku, 4), Set.of(), Set.of(), true, 5, false);

    assertThat(reading.skus())
        .extracting(ProductRow::skuId)
        .containsExactlyInAnyOrder(sku, OF_MYSQL);
    assertThat(reading.shards(sku)).isEqualTo(4);
    assertThat(reading.shards(OF_MYSQL)).isOne();
    assertThat(reading.shards(UNKNOWN)).isOne();
    assertThat(reading.bySku()).containsKey(Shards.id(sku, 3));
  }

  @Test
  void aSkuHasTheUnitsOfItsShardsAndTheirDecider() {
    List<ProductRow> parts =
        List.of(product(31, Decider.REDIS), product(32, Decider.MYSQL), product(33, Decider.REDIS));
    ProductRow sku = product(OF_REDIS, Decider.REDIS);

    assertThat(sku.withUnitsOf(parts).stock()).isEqualTo(4 * 10);
    assertThat(sku.withUnitsOf(parts).decides()).isEqualTo(Decider.MYSQL);
    assertThat(sku.withUnitsOf(parts.subList(0, 1)).decides()).isEqualTo(Decider.REDIS);
    assertThat(sku.withUnitsOf(List.of())).isEqualTo(sku);
  }

  /** A change of MySQL while it reads may be missing. */
  @Test
  void isAsOldAsTheBeginningOfItsRead() {
    AtomicLong asked = new AtomicLong();
    JdbcTemplate mysql =
        new JdbcTemplate() {
          @Override
          public void query(PreparedStatementCreator statement, RowCallbackHandler rows) {
            asked.set(System.nanoTime());
          }
        };

    ProductReading reading = ProductReader.read(JdbcClient.create(mysql), Set.of());

    assertThat(reading.atNanos() - asked.get()).isNotPositive();
  }

  /** One of age 0 stays young for an hour, however slow the machine is. */
  private static ProductReading reading(Duration age) {
    return new ProductReading(
        System.nanoTime() - (age.isZero() ? Duration.ofHours(-1) : age).toNanos(),
        Map.of(
            OF_REDIS, product(OF_REDIS, Decider.REDIS),
            OF_MYSQL, product(OF_MYSQL, Decider.MYSQL),
            WITH_DEAD_LETTER, product(WITH_DEAD_LETTER, Decider.REDIS)),
        Map.of(),
        Set.of(WITH_DEAD_LETTER),
        Set.of(OF_MYSQL),
        true,
        5,
        false);
  }

  private static ProductRow product(long sku, Decider decides) {
    return TestProductRow.of(sku).decides(decides).orders(LAST_SEQ, 0).row();
  }
}
