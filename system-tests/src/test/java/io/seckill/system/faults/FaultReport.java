package io.seckill.system.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.json.JsonMapper;

/** What the suite did and found, for people to copy: one line on the screen, the rest in a file. */
final class FaultReport {

  private static final Path FILE = Path.of("target", "proof.json");

  private final List<Row> rows = new CopyOnWriteArrayList<>();

  /**
   * A run that was judged and held.
   *
   * @param row number in the fault matrix and what it says
   * @param faults what was done, in order
   * @param purchases attempts of shoppers
   * @param accepted answered with an order id
   * @param stored in MySQL at the end
   * @param missing accepted and not stored: none but where Redis loses its data on purpose, for any
   *     other run with one does not hold
   * @param unpromised stored and never answered with 202: a try whose answer was lost and whose
   *     repeat was refused before it was admitted, see {@link
   *     io.seckill.system.guarantee.RefusalsAreTrue}
   * @param looks at the running sale by {@link AlwaysHolds}
   * @param restMs from the last healing until everything held
   * @param slowPercent of the answers to purchases took two seconds or more, where 300 ms are
   *     promised; on a machine that the tests keep busy
   */
  record Row(
      String row,
      List<String> faults,
      int purchases,
      int accepted,
      int stored,
      int missing,
      int unpromised,
      int looks,
      long restMs,
      double slowPercent) {}

  /** All rows together. */
  record Sum(
      int rows, int faults, int purchases, int accepted, int stored, int missing, int unpromised) {}

  /** What the file holds. */
  record Report(Sum sum, List<Row> rows) {}

  void add(Row row) {
    rows.add(row);
    System.out.println("[faults] " + row);
  }

  Sum sum() {
    return new Sum(
        rows.size(),
        rows.stream().mapToInt(row -> row.faults().size()).sum(),
        rows.stream().mapToInt(Row::purchases).sum(),
        rows.stream().mapToInt(Row::accepted).sum(),
        rows.stream().mapToInt(Row::stored).sum(),
        rows.stream().mapToInt(Row::missing).sum(),
        rows.stream().mapToInt(Row::unpromised).sum());
  }

  /** Writes {@code target/proof.json} and says the sum. */
  void write() {
    Sum sum = sum();
    System.out.printf(
        "[faults] %d rows held: %d faults, %d purchases, %d accepted, %d stored, %d missing (%s)%n",
        sum.rows(),
        sum.faults(),
        sum.purchases(),
        sum.accepted(),
        sum.stored(),
        sum.missing(),
        FILE);
    try {
      Files.writeString(
          FILE,
          JsonMapper.builder()
              .build()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(new Report(sum, rows)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
