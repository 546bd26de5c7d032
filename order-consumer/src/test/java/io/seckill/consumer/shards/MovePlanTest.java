package io.seckill.consumer.shards;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.sales.StockMoves.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MovePlanTest {

  /**
   * A shard is {@code <stock>@<units per second>?<asked>/<ms>}, and may be the stock alone; a move
   * is {@code <shard>:<units>}.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = true,
      textBlock =
          """
          all sell alike               | 500@100 500@100 500@100 500@100 | 0 | 1 |          |
          nobody sells yet             | 500 500 500 500                 | 0 | 1 |          |
          skewed, but all have supply  | 600@900 900@10 900@10 900@10    | 0 | 1 |          |
          one is nearly dry            | 90@900 900@0 900@0 900@0        | 0 | 1 | 1:897 2:897 3:896 |
          one is dry and asked         | 0@900?5/10 900@0 900@0 900@0    | 0 | 1 | 1:898 2:898 3:895 |
          dry, but nobody asks         | 0 900@900 900@900 900@900       | 0 | 1 |          |
          a top-up                     | 10@100 10@100 10@100 10@100     | 80 | 1 |         | 0:20 1:20 2:20 3:20
          a giver keeps what it sells  | 0@0?5/1 50@2000 50@2000 0       | 0 | 1 |          |
          eight, one is dry and asked  | 0?1/9 900 900 900 900 900 900 900 | 0 | 1 | 1:113 2:113 3:113 4:113 5:113 6:113 7:109 |
          two for an order of three    | 2?3/9 100 100 100 100 100 100 100 | 0 | 3 | 1:13 2:13 3:13 4:13 5:13 6:13 7:7 |
          its shoppers come slowly     | 2@0?3/9 99@50 99@50 99@50 99@50 99@50 99@50 99@50 | 0 | 3 | 1:11 2:11 3:11 4:11 5:11 6:11 7:9 |
          three single units for three | 1?3/9 1 1 0                     | 0 | 3 | 1:1 2:1  |
          two single units for three   | 1?3/9 1 0 0                     | 0 | 3 | 1:1      |
          the last where nobody shops  | 0?1/9 0 0 1                     | 0 | 1 | 3:1      |
          the last is in the pool      | 0?1/9 0 0 0                     | 1 | 1 |          | 0:1
          the oldest ask first         | 0?2/9 0?2/99 0 0               | 3 | 5 |          | 1:2 0:1
          asked and has it             | 2?2/9 0?2/99 1 0                | 0 | 5 | 0:1 2:1  |
          nobody asks for the last     | 3 0 0 0                         | 0 | 5 |          |
          left in the pool unasked     | 0 0 0 0                         | 3 | 5 |          |
          """)
  void moves(String name, String shards, long pool, long largest, String takes, String gives) {
    MovePlan plan = plan(shards, pool, largest);

    assertThat(format(plan.takes())).as(name).isEqualTo(takes == null ? "" : takes);
    if (takes == null) {
      assertThat(format(plan.gives(pool))).as(name).isEqualTo(gives == null ? "" : gives);
    }
  }

  /** Where takes come first, the gifts are planned from what is in the pool then. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          90@900 3@0 3@0 4@0  | 2690 | 1 | 0:2690
          0@900?5/10 3@0 3@0 7@0 | 2687 | 1 | 0:2687
          1?3/9 0 0 0         | 2 | 3 | 0:2
          0?1/9 0 0 0         | 1 | 1 | 0:1
          0@0?9/1 231 50@400 231 | 1338 | 1 | 0:462 2:0
          """)
  void givesWhatWasTaken(String shards, long pool, long largest, String gives) {
    List<Units> given = plan(shards, pool, largest).gives(pool);

    assertThat(given.stream().mapToLong(Units::units).sum()).isPositive().isLessThanOrEqualTo(pool);
    assertThat(given.get(0).shardId()).isEqualTo(Long.parseLong(gives.split(":", -1)[0]));
  }

  /**
   * For all that shards can have, ask and sell: no plan takes or gives units that there are not.
   */
  @Test
  void neverTakesMoreThanAShardHasNorGivesMoreThanThePoolHas() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 20_000; round++) {
      int count = 1 << (1 + random.nextInt(4));
      int most = 1 + random.nextInt(round % 2 == 0 ? 5 : 2_000);
      List<ShardState> shards =
          IntStream.range(0, count)
              .mapToObj(
                  id ->
                      new ShardState(
                          id,
                          0,
                          1,
                          random.nextInt(most),
                          0,
                          random.nextInt(3) == 0 ? random.nextInt(50) : 0,
                          random.nextInt(300)))
              .toList();
      double[] rates = random.doubles(count, 0, 5_000).toArray();
      long pool = random.nextInt(most);
      MovePlan plan =
          new MovePlan(shards, pool, shard -> rates[(int) shard.id()], 1 + random.nextInt(5));

      assertThat(plan.takes())
          .as("seed %s round %s", seed, round)
          .allSatisfy(
              take ->
                  assertThat(take.units()).isBetween(1L, shards.get((int) take.shardId()).stock()));
      assertThat(plan.gives(pool).stream().mapToLong(Units::units).sum()).isBetween(0L, pool);
      assertThat(plan.gives(pool)).allSatisfy(give -> assertThat(give.units()).isPositive());
    }
  }

  /**
   * Shoppers of one shard ask for all there is, look after look: the last unit reaches them, in as
   * many looks as there are takes to refuse.
   */
  @Test
  void gathersEveryUnitWhereItIsAskedFor() {
    long[] stock = {0, 3, 1, 0, 7, 2, 0, 1};
    long pool = 1;
    long sold = 0;
    for (int look = 0; look < 20 && sold < 15; look++) {
      long[] asked = new long[stock.length];
      asked[0] = 50;
      pool = move(new MovePlan(shards(stock, asked), pool, shard -> 0, 5), stock, pool);
      sold += stock[0];
      stock[0] = 0;
    }
    assertThat(sold).isEqualTo(15);
    assertThat(pool).isZero();
  }

  /**
   * Nothing sells, and purchases go on waiting: the moves end, and no shard is left with too few.
   */
  @Test
  void unitsComeToRest() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int sale = 0; sale < 5_000; sale++) {
      int count = 1 << (1 + random.nextInt(4));
      long most = sale % 2 == 0 ? 20 : 2_000;
      int largest = 1 + random.nextInt(5);
      long[] stock = random.longs(count, 0, most).toArray();
      long[] asked = random.longs(count, -100, 50).map(units -> Math.max(0, units)).toArray();
      long pool = random.nextLong(most);

      MovePlan plan = new MovePlan(shards(stock, asked), pool, shard -> 0, largest);
      for (int look = 0; look < 4; look++) {
        pool = move(plan, stock, pool);
        plan = new MovePlan(shards(stock, asked), pool, shard -> 0, largest);
      }

      assertThat(plan.takes()).as("seed %s sale %s", seed, sale).isEmpty();
      assertThat(plan.gives(pool)).as("seed %s sale %s", seed, sale).isEmpty();
      boolean plenty = pool + LongStream.of(stock).sum() >= 4L * count * largest;
      assertThat(
              IntStream.range(0, count)
                  .filter(id -> plenty && stock[id] < Math.min(asked[id], largest)))
          .as("seed %s sale %s", seed, sale)
          .isEmpty();
    }
  }

  /** Returns the units that are then in the pool. */
  private static long move(MovePlan plan, long[] stock, long pool) {
    long units = pool;
    for (Units take : plan.takes()) {
      stock[(int) take.shardId()] -= take.units();
      units += take.units();
    }
    for (Units give : plan.gives(units)) {
      stock[(int) give.shardId()] += give.units();
      units -= give.units();
    }
    return units;
  }

  private static List<ShardState> shards(long[] stock, long[] asked) {
    return IntStream.range(0, stock.length)
        .mapToObj(id -> new ShardState(id, 0, 1, stock[id], 0, asked[id], 10))
        .toList();
  }

  private static MovePlan plan(String text, long pool, long largest) {
    List<ShardState> shards = new ArrayList<>();
    List<Double> rates = new ArrayList<>();
    for (String shard : text.trim().split(" +", -1)) {
      String[] asked = shard.split("[?/]", -1);
      String[] has = asked[0].split("@", -1);
      rates.add(has.length > 1 ? Double.parseDouble(has[1]) : 0);
      shards.add(
          new ShardState(
              shards.size(),
              0,
              1,
              Long.parseLong(has[0]),
              0,
              asked.length > 1 ? Long.parseLong(asked[1]) : 0,
              asked.length > 1 ? Long.parseLong(asked[2]) : 0));
    }
    return new MovePlan(shards, pool, shard -> rates.get((int) shard.id()), largest);
  }

  private static String format(List<Units> moves) {
    return moves.stream().map(move -> move.shardId() + ":" + move.units()).collect(joining(" "));
  }
}
