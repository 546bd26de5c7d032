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
 * The results of the suite, for publication: one line on standard output, the details in a file, to
 * which each JVM of a build adds its rows.
 */
public final class FaultReport {

  private static final Path FILE = Path.of("target", "proof.json");
  private static final String RUN = System.getProperty("seckill.test.run", "");
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final List<Row> rows = new CopyOnWriteArrayList<>();

  /**
   * A run that was judged and passed.
   *
   * @param row number and name in the fault matrix
   * @param faults the faults, in order
   * @param purchases attempts of shoppers
   * @param accepted purchases answered with an order id
   * @param stored orders in MySQL at the end
   * @param missing orders accepted and not stored: 0 except where Redis loses its data on purpose,
   *     because any other run with a missing order fails
   * @param unpromised orders stored and never answered with 202: the answer to an attempt was lost,
   *     and its repeat was refused before the attempt was admitted, see {@link
   *     io.seckill.system.guarantee.RefusalsAreTrue}
   * @param looks number of checks of the running sale by {@link AlwaysHolds}
   * @param restMs time from the last healing until every guarantee held
   * @param answers response times of purchases and their repeats, as shoppers saw them
   * @param promises bounds that the docs promise, with the measured values
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
   * How long shoppers waited for answers of any kind, on a machine that the tests keep busy.
   *
   * @param lost requests without an answer: disconnected, or given up after three seconds
   * @param within300msPercent percentage of the answers
   */
  record Answers(int lost, double within300msPercent, long medianMs, long p99Ms, long longestMs) {}

  /**
   * A bound that the docs promise, and the measured value.
   *
   * @param promised the bound, for a machine that is otherwise idle
   */
  record Promise(String what, double measured, double promised) {}

  /** Totals of all rows. */
  record Sum(
      int rows, int faults, int purchases, int accepted, int stored, int missing, int unpromised) {}

  /**
   * The contents of the file.
   *
   * @param run time at which the build began
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

  /** Moves the rows to {@code target/proof.json} and prints the totals of the build so far. */
  void write() {
    try (FileChannel file = FileChannel.open(FILE, CREATE, READ, WRITE)) {
      file.lock(); // held until the file is closed
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
