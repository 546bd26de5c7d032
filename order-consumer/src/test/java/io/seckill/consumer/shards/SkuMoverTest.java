package io.seckill.consumer.shards;

import static java.lang.Integer.parseInt;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.sales.ListedMoves;
import io.seckill.consumer.sales.ShardProofs;
import io.seckill.consumer.sales.StockMoves.Units;
import io.seckill.consumer.testing.UnstoredProduct;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a mover reads of a quiet SKU, and writes to a sold-out one while MySQL is away. */
@NullUnmarked // the tables and servers of the objects that are replaced here
class SkuMoverTest {

  static final long SKU = 32;
  static final List<Long> IDS = Shards.ids(SKU, 2);

  /** 20,000 orders of 5 units. */
  private static final long MOST_UNITS_PER_S = 100_000;

  static final String SOLD_OUT = "1/0/50 1/0/50";

  private static final String[] FORGET = {"0=-1", "1=-1"};

  private final List<String> written = new ArrayList<>();
  private final AtomicLong nanos = new AtomicLong();
  private int statements;
  private int passes;
  private int inRedis = IDS.size();
  private long pooled;
  private long withdrawn;
  private List<ShardState> found = states(SOLD_OUT);

  private final ShardReader reader =
      new ShardReader(null, null) {
        @Override
        List<ShardState> read(List<ExpectedSale> shards) {
          assertThat(shards).extracting(ExpectedSale::id).isEqualTo(IDS);
          passes++;
          return found;
        }
      };

  /** Since when each shard shows something. */
  private final Map<Long, Long> shown = new HashMap<>();

  private final ShardProofs proofs =
      new ShardProofs(null, null) {
        @Override
        public void write(long shard, long epoch, long units, long atMs) {
          written.add(Shards.shard(shard) + "=" + units);
          shown.put(shard, atMs);
        }

        @Override
        public boolean renew(long shard, long epoch, long shownMs, long atMs) {
          boolean same = shown.replace(shard, shownMs, atMs);
          if (same) {
            written.add(Shards.shard(shard) + "=0");
          }
          return same;
        }

        @Override
        public void takeBack(List<Long> shards) {
          shards.forEach(shard -> written.add(Shards.shard(shard) + "=-1"));
          shown.keySet().removeAll(shards);
        }
      };
  private final ShardTable table =
      new ShardTable(null) {
        @Override
        Pool pool(ProductSnapshot sku) {
          statements++;
          return new Pool(pooled, 7, 0, 0, withdrawn, inRedis);
        }

        @Override
        List<ExpectedSale> expected(ProductSnapshot sku) {
          statements++;
          return IDS.stream().map(id -> new ExpectedSale(id, 1, 0, 0, "")).toList();
        }
      };
  private final SkuMover mover =
      new SkuMover(table, reader, new ListedMoves(written), proofs, nanos::get);

  /** A shard is {@code <epoch>/<stock>/<admitted units>}, or - when it cannot be read. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nothing has changed        | 1/0/50 1/0/50 | 0=0 1=0",
        "a unit has come back       | 1/1/50 1/0/50 | 0=-1 1=-1",
        "it was sold again          | 1/0/51 1/0/50 | 0=-1 1=-1",
        "it came, with fewer orders | 1/1/49 1/0/50 | 0=-1 1=-1",
        "a shard was rebuilt        | 1/0/50 2/0/50 | 0=-1 1=-1",
        "a shard cannot be read     | 1/0/50 -      | 0=-1",
        "no shard can be read       | - -           | ''"
      })
  void aNoIsRenewedOnlyWhileNothingHasChanged(String name, String now, String shown) {
    assertThat(mover.look(sku(SKU))).isEqualTo(Duration.ofMillis(250));
    assertThat(written).containsExactly("0=0", "1=0");
    written.clear();
    found = states(now);

    renew();

    assertThat(String.join(" ", written)).as(name).isEqualTo(shown);
    written.clear();
    found = states(SOLD_OUT);
    renew();
    assertThat(written).as("after that").hasSize(now.equals(SOLD_OUT) ? 2 : 0);
  }

  @Test
  void nothingIsRenewedThatWasNotProven() {
    renew();

    assertThat(written).isEmpty();
  }

  /** MySQL has stored it, and is away before the next look. */
  @Test
  void aNoIsNotRenewedAfterUnitsWereAdded() {
    mover.look(sku(SKU));
    renew();
    shown.remove(IDS.get(1)); // the other cannot be reached at that moment
    written.clear();

    renew();
    assertThat(written).containsExactly("0=0", "0=-1", "1=-1");
    written.clear();
    renew();
    assertThat(written).isEmpty();
  }

  /** One unit is left: the others know it, and it is not known any more without MySQL. */
  @Test
  void unitsThatAreLeftAreNotRenewed() {
    found = states("1/1/50 1/0/50");
    assertThat(mover.look(sku(SKU))).isNotEqualTo(Duration.ofMillis(250));
    assertThat(written).containsExactly("0=0", "1=1");
    written.clear();

    renew();

    assertThat(written).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "1, 1", "0, 0"})
  void looksAtTheShardsThatRedisSellsBesideThoseOfMySql(int shards, int looks) {
    inRedis = shards;
    found = states("1/500/50 -");

    mover.look(sku(SKU));

    assertThat(passes).isEqualTo(looks);
  }

  /** The process that led before may have shown a proof, which does not hold when units move. */
  @Test
  void aNewMoverFirstTakesBackWhatAnotherMayHaveShown() {
    found = states("1/500/50 1/500/50");

    mover.look(sku(SKU));
    mover.look(sku(SKU));

    assertThat(written).as("once").containsExactly(FORGET);
  }

  /** Ten seconds of an open sale that sells nothing. */
  @ParameterizedTest
  @CsvSource({
    "10, 2, 10", // not even the largest orders could empty a shard within a second
    "0.1, 2, 100",
    "0.3, 2, 34"
  })
  void aLookAtAQuietSaleIsCheap(double seconds, int statementsPerSecond, int looks) {
    found = states("1/%1$d/50 1/%1$d/50".formatted((long) (seconds * MOST_UNITS_PER_S)));
    while (nanos.get() < TimeUnit.SECONDS.toNanos(10)) {
      nanos.addAndGet(mover.look(sku(SKU)).toNanos());
    }

    assertThat(statements).isBetween(10, 10 * statementsPerSecond + 2);
    assertThat(passes).isBetween(looks - 1, looks + 1);
    assertThat(written).as("calls that write").containsExactly(FORGET);
  }

  /** All shoppers come at once, just after a look, to a shard with so many units. */
  @ParameterizedTest
  @ValueSource(longs = {0, 5, 1_000, 9_999, 10_000, 50_000, 200_000, 1_000_000})
  void aShardThatRunsDryIsSeenWithinATenthOfASecond(long units) {
    found = states("1/%d/50 1/1000000/50".formatted(units));
    long rest = mover.look(sku(SKU)).toMillis();

    long dry = units * 1_000 / MOST_UNITS_PER_S;
    assertThat(rest - dry).isLessThanOrEqualTo(100);
  }

  /** What is taken for it could not be given. */
  @Test
  void noUnitMovesWhileAWithdrawalWaitsForMoreThanThePoolHas() {
    found = dryAndRich();
    withdrawn = 300;

    assertThat(mover.look(sku(SKU))).isEqualTo(Duration.ofMillis(50));
    assertThat(written).containsExactly(FORGET);
  }

  /** A shard that shows that no unit is elsewhere would refuse a shopper while one moves. */
  @ParameterizedTest
  @CsvSource({"0, take 1=25", "50, give 0=50"})
  void whatAnotherMayHaveShownIsTakenBackBeforeUnitsMove(long units, String move) {
    found = dryAndRich();
    pooled = units;

    mover.look(sku(SKU));

    assertThat(written).containsExactly(FORGET[0], FORGET[1], move);
  }

  private static List<ShardState> dryAndRich() {
    long asked = 5;
    return List.of(
        new ShardState(IDS.get(0), 1_000, 1, 0, 50, asked, 1),
        new ShardState(IDS.get(1), 1_000, 1, 50, 50, 0, 0));
  }

  /** With one unit less than shards, and with each shard in MySQL, too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "16 | 15 | 15                  | 1",
        "16 | 14,15 | 15               | 1 0",
        "16 | 14,15 | 47               | 3 2",
        "16 | 3 | 160                  | 10",
        "4  | 0,1,2,3 | 7              | 2 2 2 1",
        "4  | 0,1,2,3 | 1              | 1 0 0 0"
      })
  void whatIsLeftOfThePoolReachesEveryShardOfMySql(
      int shards, String takers, long free, String given) {
    List<Long> ids = Shards.ids(SKU, shards);
    List<Long> dry = Stream.of(takers.split(",", -1)).map(n -> ids.get(parseInt(n))).toList();

    Map<Long, Long> units =
        SkuMover.partsOf(dry, shards, free).stream()
            .collect(Collectors.toMap(Units::shardId, Units::units));

    assertThat(dry.stream().map(shard -> String.valueOf(units.getOrDefault(shard, 0L))))
        .containsExactly(given.split(" ", -1));
  }

  private void renew() {
    nanos.addAndGet(Duration.ofMillis(301).toNanos());
    mover.renew();
  }

  static List<ShardState> states(String text) {
    List<ShardState> states = new ArrayList<>();
    String[] shards = text.split(" ", -1);
    for (int shard = 0; shard < shards.length; shard++) {
      if (!shards[shard].equals("-")) {
        String[] values = shards[shard].split("/", -1);
        states.add(
            new ShardState(
                IDS.get(shard),
                1_000,
                Long.parseLong(values[0]),
                Long.parseLong(values[1]),
                Long.parseLong(values[2]),
                0,
                0));
      }
    }
    return states;
  }

  /** A SKU with two shards. */
  static ProductSnapshot sku(long skuId) {
    return UnstoredProduct.of(skuId).opensAt(Instant.EPOCH).inShards(2).snapshot();
  }
}
