package io.seckill.bench.stage;

import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.shop.Answer;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/**
 * A figure at three sizes of what it must not grow with, or no faster than, so that its growth can
 * be read.
 *
 * @param title what was measured
 * @param name begins its keys
 * @param unit ends its keys
 */
record Growth(String title, String name, String unit) {

  /** How many times the smallest size. */
  static final List<Integer> TIMES = List.of(1, 10, 100);

  static final int MOST = 100;

  /** The time of an operation. */
  static Growth ofTime(String title, String name) {
    return new Growth(title, name, "_ms");
  }

  static Growth ofCount(String title, String name) {
    return new Growth(title, name, "");
  }

  /**
   * @param times 0 for nothing
   */
  String key(int times) {
    return "large." + name + ".x" + times + unit;
  }

  Stream<Row> rows() {
    return TIMES.stream().map(this::row);
  }

  /** As {@link #rows}, with nothing before. */
  Stream<Row> rowsFromNothing() {
    return Stream.concat(Stream.of(row(0)), rows());
  }

  private Row row(int times) {
    return Row.of(title + ", " + times + " x", key(times));
  }

  void add(Figures figures, int times, double value) {
    figures.add(key(times), value);
  }

  /** Makes the call, which must succeed, and adds its milliseconds. */
  Answer time(Figures figures, int times, Callable<Answer> call) throws Exception {
    long start = System.nanoTime();
    Answer answer = successful(call);
    addSince(figures, times, start);
    return answer;
  }

  /**
   * Adds the milliseconds since then.
   *
   * @param startNanos System.nanoTime()
   */
  void addSince(Figures figures, int times, long startNanos) {
    add(figures, times, (System.nanoTime() - startNanos) / 1e6);
  }

  /** Returns the answer to a call that succeeds. */
  static Answer successful(Callable<Answer> call) throws Exception {
    Answer answer = call.call();
    if (answer.status() / 100 != 2) {
      throw new IllegalStateException("refused: " + answer);
    }
    return answer;
  }
}
