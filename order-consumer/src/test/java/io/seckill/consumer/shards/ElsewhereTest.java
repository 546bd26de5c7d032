package io.seckill.consumer.shards;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ElsewhereTest {

  private static final Pool EMPTY = new Pool(0, 7, 0, 0, 0, 2);

  @Test
  void theUnitsOfAllShardsOfThePoolAndOfMovesAreThere() {
    Pool pool = new Pool(5, 7, 3, 1, 0, 3);

    OptionalLong proven = proven(pool, pass(2, 0, 1), pass(2, 0, 1), pool);

    assertThat(proven).hasValue(11);
  }

  @Test
  void soldOutIsZero() {
    assertThat(proven(EMPTY, pass(0, 0), pass(0, 0), EMPTY)).hasValue(0);
  }

  /** A sale takes from the stock as much as it adds to the units admitted. */
  @Test
  void salesBetweenThePassesOnlyLowerIt() {
    List<ShardState> second = List.of(state(0, 1, 1, 101), state(1, 1, 0, 100));

    assertThat(proven(EMPTY, pass(2, 0), second, EMPTY)).hasValue(2);
  }

  @Test
  void aUnitThatComesBehindTheReaderProvesNothing() {
    List<ShardState> returned = List.of(state(0, 1, 0, 100), state(1, 1, 1, 100));
    List<ShardState> returnedAndSold = List.of(state(0, 1, 0, 100), state(1, 1, 0, 101));

    assertThat(proven(EMPTY, pass(0, 0), returned, EMPTY)).isEmpty();
    assertThat(proven(EMPTY, pass(0, 0), returnedAndSold, EMPTY)).isEmpty();
  }

  @Test
  void aMoveProvesNothingEvenWhenAsManyUnitsCameBack() {
    Pool moved = new Pool(0, 9, 0, 0, 0, 2);

    assertThat(proven(EMPTY, pass(0, 0), pass(0, 0), moved)).isEmpty();
  }

  @Test
  void aShardThatCannotBeReadProvesNothing() {
    Pool ofThree = new Pool(0, 7, 0, 0, 0, 3);

    assertThat(Elsewhere.proven(3, ofThree, pass(0, 0), pass(0, 0), ofThree)).isEmpty();
    assertThat(Elsewhere.proven(2, EMPTY, pass(0, 0), pass(0), EMPTY)).isEmpty();
  }

  @Test
  void aShardThatMySqlSellsProvesNothing() {
    Pool pool = new Pool(0, 7, 0, 0, 0, 1);

    assertThat(proven(pool, pass(0, 0), pass(0, 0), pool)).isEmpty();
  }

  @Test
  void aShardThatWasLoadedAgainProvesNothing() {
    List<ShardState> loaded = List.of(state(0, 2, 0, 100), state(1, 1, 0, 100));

    assertThat(proven(EMPTY, pass(0, 0), loaded, EMPTY)).isEmpty();
  }

  /**
   * A model of all that happens between and during the reads, in random order: sales, returns, and
   * both halves of moves. At no moment between the passes were there more units than proven.
   */
  @Test
  void aProofIsTrueBetweenThePasses() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int proofs = 0;
    for (int round = 0; round < 200_000; round++) {
      Model model = new Model(random);
      Pool before = model.pool();
      List<ShardState> first = model.read();
      long most = model.all();
      for (int step = random.nextInt(3); step > 0; step--) {
        model.step();
        most = Math.max(most, model.all());
      }
      List<ShardState> second = model.read();
      OptionalLong proven = proven(before, first, second, model.pool());
      if (proven.isPresent()) {
        proofs++;
        assertThat(proven.getAsLong())
            .as("seed %s round %s", seed, round)
            .isGreaterThanOrEqualTo(most);
      }
    }
    assertThat(proofs).isGreaterThan(1_000);
  }

  /** Few units, so that most of them are in the wrong place at some time. */
  private static final class Model {
    private final Random random;
    private final long[] stock = new long[3];
    private final long[] admitted = new long[3];
    private long pool;
    private long version;
    private final List<long[]> open = new ArrayList<>(); // shard, units, whether Redis has it

    Model(Random random) {
      this.random = random;
      stock[random.nextInt(3)] = random.nextInt(2);
      pool = random.nextInt(2);
    }

    long all() {
      long moving =
          open.stream()
              .filter(move -> move[1] < 0 == (move[2] == 1))
              .mapToLong(move -> Math.abs(move[1]))
              .sum();
      return stock[0] + stock[1] + stock[2] + pool + moving;
    }

    Pool pool() {
      return new Pool(
          pool, version, open.stream().mapToLong(m -> Math.abs(m[1])).sum(), open.size(), 0, 3);
    }

    /** One shard after the other; anything may happen in between. */
    List<ShardState> read() {
      List<ShardState> states = new ArrayList<>();
      for (int shard = 0; shard < 3; shard++) {
        if (random.nextInt(4) == 0) {
          step();
        }
        states.add(state(shard, 1, stock[shard], admitted[shard]));
      }
      return states;
    }

    void step() {
      int shard = random.nextInt(3);
      switch (random.nextInt(6)) {
        case 0 -> {
          admitted[shard] += stock[shard] > 0 ? 1 : 0;
          stock[shard] -= stock[shard] > 0 ? 1 : 0;
        }
        case 1 -> stock[shard]++;
        case 2 -> open.add(new long[] {shard, -1, 0});
        case 3 -> {
          if (pool > 0) {
            pool--;
            version++;
            open.add(new long[] {shard, 1, 0});
          }
        }
        default -> go();
      }
    }

    private void go() {
      if (open.isEmpty()) {
        return;
      }
      long[] move = open.get(random.nextInt(open.size()));
      int shard = (int) move[0];
      if (move[2] == 0) {
        if (stock[shard] + move[1] < 0) {
          open.remove(move); // refused
        } else {
          stock[shard] += move[1];
          move[2] = 1;
        }
      } else {
        pool += move[1] < 0 ? 1 : 0;
        version += move[1] < 0 ? 1 : 0;
        open.remove(move);
      }
    }
  }

  private static OptionalLong proven(
      Pool before, List<ShardState> first, List<ShardState> second, Pool after) {
    return Elsewhere.proven(first.size(), before, first, second, after);
  }

  private static List<ShardState> pass(long... stocks) {
    List<ShardState> states = new ArrayList<>();
    for (long stock : stocks) {
      states.add(state(states.size(), 1, stock, 100));
    }
    return states;
  }

  private static ShardState state(long id, long epoch, long stock, long admitted) {
    return new ShardState(id, 0, epoch, stock, admitted, 0, 0);
  }
}
