package io.seckill.bench.stage;

import io.seckill.system.load.LoadAnswer;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Shoppers who buy as fast as they can, and repeat a purchase with the same key after a 503, which
 * is neither yes nor no.
 */
final class PatientShoppers {

  private static final int ROUNDS = 50;
  private static final int UNKNOWN = 503;

  private final ReadyPurchases purchases;
  private final Consumer<LoadAnswer> listener;
  private final BitSet answered = new BitSet();

  /**
   * @param listener receives every yes and no, once per purchase
   */
  PatientShoppers(ReadyPurchases purchases, Consumer<LoadAnswer> listener) {
    this.purchases = purchases;
    this.listener = listener;
  }

  /**
   * Sends every purchase once.
   *
   * @return the result, including 503 answers
   */
  LoadResult buy() throws IOException {
    return Loader.run(purchases.at(LoadPlan.ASAP), this::take);
  }

  /** Repeats the purchases without a yes or no, until there are none left or 50 rounds are over. */
  void insist() throws IOException {
    for (int round = 0; round < ROUNDS && unanswered() > 0; round++) {
      List<Integer> open =
          IntStream.range(0, purchases.count()).filter(i -> !answered.get(i)).boxed().toList();
      Loader.run(
          purchases.someOf(open), answer -> take(answer.ofRequest(open.get((int) answer.index()))));
    }
  }

  /** Returns the number of purchases without a yes or no so far. */
  int unanswered() {
    return purchases.count() - answered.cardinality();
  }

  private void take(LoadAnswer answer) {
    if (answer.status() != UNKNOWN) {
      answered.set((int) answer.index());
      listener.accept(answer);
    }
  }
}
