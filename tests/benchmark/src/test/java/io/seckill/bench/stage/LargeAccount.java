package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Users;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import io.seckill.system.load.Requests;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** What one account, or a hundred, can do to the others. */
record LargeAccount(Lab lab) {

  private static final Growth FIELDS = Growth.ofCount("fields of one account's bucket", "account");
  private static final Growth LATENCY =
      new Growth(
          "purchases of others while it asks for its list 50 times a second: p99",
          "account",
          "_p99_ms");
  private static final Growth LISTS = Growth.ofTime("its list: p99", "account.list");
  private static final Growth CYCLES =
      Growth.ofCount("purchases cancelled again, by a hundred accounts", "cycles");
  private static final Growth MEMORY =
      new Growth("Redis memory more than before", "cycles.redis", "_bytes");

  private static final int FEWEST_FIELDS = 2_500;
  private static final int FIELDS_AT_ONCE = 500;
  private static final int LISTS_PER_SECOND = 50;
  private static final int PURCHASES_PER_SECOND = 200;
  private static final int CONNECTIONS = 64;
  private static final int ACCOUNTS = 100;
  private static final int CYCLES_AT_ONCE = ACCOUNTS * BenchSale.UNITS_PER_USER;
  private static final int ROUNDS = 50;
  private static final Duration LOOK = Duration.ofMillis(50);

  static Stream<Row> rows() {
    return Stream.of(
            FIELDS.rows(), LATENCY.rowsFromNothing(), LISTS.rows(), CYCLES.rows(), MEMORY.rows())
        .flatMap(rows -> rows);
  }

  void measure(Figures figures) throws Exception {
    BenchSale attacked = lab.newSale(1_000);
    long attacker = lab.newUsers(1).first();
    byte[] list = new Requests(lab.pipeline().tokens()).list(attacker);
    buyBeside(0, list); // compiles
    lab.progress().now("large: purchases beside an account that asks for nothing");
    LATENCY.add(figures, 0, buyBeside(0, list).others.percentileMs(99));
    int fields = 0;
    for (int times : Growth.TIMES) {
      for (; fields < times * FEWEST_FIELDS; fields += FIELDS_AT_ONCE) {
        fill(attacked, attacker, fields);
      }
      lab.progress().now("large: purchases beside an account with %d fields".formatted(fields));
      Beside beside = buyBeside(LISTS_PER_SECOND, list);
      FIELDS.add(figures, times, fields);
      LATENCY.add(figures, times, beside.others.percentileMs(99));
      LISTS.add(figures, times, beside.lists.percentileMs(99));
    }
    for (int turn = 1; turn < lab.settings().repeats(); turn++) {
      LATENCY.add(figures, 0, buyBeside(0, list).others.percentileMs(99));
      double beside = buyBeside(LISTS_PER_SECOND, list).others.percentileMs(99);
      LATENCY.add(figures, Growth.MOST, beside);
    }
    cycle(figures);
  }

  private void fill(BenchSale sale, long user, int from) {
    Map<String, String> some = new HashMap<>();
    for (int i = from; i < from + FIELDS_AT_ONCE; i++) {
      some.put(RedisKeys.COMPENSATED + i, "1:1");
    }
    lab.redis()
        .hset(RedisKeys.bucket(sale.skuId(), RedisKeys.bucketOf(user, sale.buckets())), some);
  }

  private record Beside(LoadResult others, LoadResult lists) {}

  private Beside buyBeside(int listsPerSecond, byte[] list) {
    int seconds = lab.settings().choose(20, 5);
    int count = PURCHASES_PER_SECOND * seconds;
    LoadPlan purchases =
        new ReadyPurchases(lab, lab.newSale(count), count).at(PURCHASES_PER_SECOND);
    LoadPlan lists =
        new LoadPlan(
            lab.pipeline().shopPort(),
            CONNECTIONS,
            Math.max(1, listsPerSecond * seconds),
            LISTS_PER_SECOND,
            n -> list);
    CompletableFuture<LoadResult> asking =
        CompletableFuture.supplyAsync(() -> successful(lists, 200));
    LoadResult others = successful(purchases, 202);
    return new Beside(others, asking.orTimeout(2, TimeUnit.MINUTES).join());
  }

  private LoadResult successful(LoadPlan plan, int status) {
    try {
      LoadResult result = Loader.run(plan, answer -> {});
      if (result.answers(status) < plan.requests()) {
        lab.progress().note("large: answers by status " + result.byStatus());
      }
      return result;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A hundred accounts buy what their limit allows, and cancel it, again and again. */
  private void cycle(Figures figures) throws Exception {
    BenchSale sale = lab.newSale(CYCLES_AT_ONCE);
    Users accounts = lab.newUsers(ACCOUNTS);
    long before = Memory.usedBytes(lab.redis());
    int cycles = 0;
    for (int times : Growth.TIMES) {
      int wanted = times * lab.settings().amount(1_000, 50);
      lab.progress().now("large: %d purchases are cancelled again".formatted(wanted));
      while (cycles < wanted) {
        int some = Math.min(CYCLES_AT_ONCE, wanted - cycles);
        buyAndCancel(sale, accounts, cycles, some);
        cycles += some;
      }
      CYCLES.add(figures, times, cycles);
      MEMORY.add(figures, times, Memory.usedBytes(lab.redis()) - (double) before);
    }
  }

  private void buyAndCancel(BenchSale sale, Users accounts, int first, int count) throws Exception {
    Requests requests = new Requests(lab.pipeline().tokens());
    String[] orders = new String[count];
    insist(
        count,
        i -> requests.purchase(accounts.id(i), sale.skuId(), "large-cycle-" + (first + i)),
        (i, orderId) -> orders[i] = orderId);
    insist(count, i -> requests.cancellation(accounts.id(i), orders[i]), (i, orderId) -> {});
    try (StoredRows database = new StoredRows(lab.mysql())) {
      Waiting.until("the units to be back", LOOK, () -> database.pendingCompensations() == 0);
    }
  }

  private interface OrderListener {
    void answered(int index, String orderId);
  }

  /** Repeats what was refused: an order that is not stored yet cannot be cancelled. */
  private void insist(int count, IntFunction<byte[]> request, OrderListener listener)
      throws IOException {
    BitSet done = new BitSet();
    for (int round = 0; done.cardinality() < count; round++) {
      if (round == ROUNDS) {
        throw new IllegalStateException(count - done.cardinality() + " requests were refused");
      }
      if (round > 0) {
        Waiting.pass(LOOK);
      }
      int[] open = IntStream.range(0, count).filter(i -> !done.get(i)).toArray();
      LoadPlan plan =
          new LoadPlan(
              lab.pipeline().shopPort(),
              CONNECTIONS,
              open.length,
              LoadPlan.ASAP,
              n -> request.apply(open[(int) n]));
      Loader.run(
          plan,
          answer -> {
            if (answer.status() / 100 == 2) {
              int index = open[(int) answer.index()];
              done.set(index);
              listener.answered(index, answer.orderId());
            }
          });
    }
  }
}
