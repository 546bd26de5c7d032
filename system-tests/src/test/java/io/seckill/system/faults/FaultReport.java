package io.seckill.system.faults;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the suite did and found, for people to copy: one line on the screen, the rest in a file, to
 * which each JVM of a build adds what it saw.
 */
final class FaultReport {

  private static final Path FILE = Path.of("target", "proof.json");
  private static final String RUN = System.getProperty("seckill.test.run", "");
  private static final JsonMapper JSON = JsonMapper.builder().build();

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
   * @param answers to purchases and their repeats, as shoppers saw them
   * @param promises of the docs, with what was measured
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
      Answers answers,
      List<Promise> promises) {}

  /**
   * How long shoppers waited for their answers, whatever these were, on the machine that the tests
   * keep busy.
   *
   * @param lost requests without an answer: cut off, or given up after three seconds
   * @param within300msPercent of the answers
   */
  record Answers(int lost, double within300msPercent, long medianMs, long p99Ms, long longestMs) {}

  /**
   * One bound that the docs promise, and what was measured.
   *
   * @param promised of a machine that has nothing else to do
   */
  record Promise(String what, double measured, double promised) {}

  /** All rows together. */
  record Sum(
      int rows, int faults, int purchases, int accepted, int stored, int missing, int unpromised) {}

  /**
   * What the file holds.
   *
   * @param run when the build began
   */
  record Report(String run, Sum sum, List<Row> rows) {}

  void add(Row row) {
    rows.add(row);
    System.out.println("[faults] " + row);
  }

  Sum sum() {
    return sum(rows);
  }

  private static Sum sum(List<Row> rows) {
    return new Sum(
        rows.size(),
        rows.stream().mapToInt(row -> row.faults().size()).sum(),
        rows.stream().mapToInt(Row::purchases).sum(),
        rows.stream().mapToInt(Row::accepted).sum(),
        rows.stream().mapToInt(Row::stored).sum(),
        rows.stream().mapToInt(Row::missing).sum(),
        rows.stream().mapToInt(Row::unpromised).sum());
  }

  /** Moves the rows to {@code target/proof.json} and says the sum of the build so far. */
  void write() {
    try (FileChannel file = FileChannel.open(FILE, CREATE, READ, WRITE)) {
      file.lock(); // until it is closed
      List<Row> all = new ArrayList<>(earlierRows(file));
      all.addAll(rows);
      Sum sum = sum(all);
      file.truncate(0);
      file.write(
          ByteBuffer.wrap(
              JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(new Report(RUN, sum, all))),
          0);
      System.out.printf(
          "[faults] %d rows held: %d faults, %d purchases, %d accepted, %d stored, %d missing (%s)%n",
          sum.rows(),
          sum.faults(),
          sum.purchases(),
          sum.accepted(),
          sum.stored(),
          sum.missing(),
          FILE);
      rows.clear();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Row> earlierRows(FileChannel file) throws IOException {
    if (file.size() == 0) {
      return List.of();
    }
    ByteBuffer text = ByteBuffer.allocate(Math.toIntExact(file.size()));
    int read = 0;
    while (text.hasRemaining() && read >= 0) {
      read = file.read(text);
    }
    Report report = JSON.readValue(text.array(), Report.class);
    return RUN.equals(report.run()) ? report.rows() : List.of();
  }
}
