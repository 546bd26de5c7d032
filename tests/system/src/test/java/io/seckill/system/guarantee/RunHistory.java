package io.seckill.system.guarantee;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/**
 * All that the guarantees of a run were given, as a file, so that a failed run can be judged again
 * when its servers are gone.
 *
 * @param row number and name in the fault matrix
 * @param faults the faults, in order
 * @param guarantees judged for each sale
 * @param afterwards judged in turn when these held, until one complained; empty when these did not
 *     hold
 * @param sales what the stores held
 * @param purchases what the shoppers sent, and the answers
 * @param observed complaints that need the running servers, as text
 */
public record RunHistory(
    String row,
    List<String> faults,
    List<Guarantee> guarantees,
    List<Guarantee> afterwards,
    List<SaleAtRest> sales,
    Purchases purchases,
    List<String> observed) {

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .changeDefaultVisibility(seen -> seen.withIsGetterVisibility(Visibility.NONE))
          .build();

  /** The same without the observed complaints that the guarantees repeat when they judge it. */
  public RunHistory withoutWhatItRepeats() {
    List<String> others = new ArrayList<>(observed);
    others.removeAll(complaints());
    return new RunHistory(row, faults, guarantees, afterwards, sales, purchases, others);
  }

  /** Judges it: the complaints of the guarantees, then those that were observed. */
  public List<String> judge() {
    List<String> all = complaints();
    all.addAll(observed);
    return all;
  }

  private List<String> complaints() {
    List<String> complaints = new ArrayList<>();
    for (SaleAtRest sale : sales) {
      guarantees.forEach(guarantee -> guarantee.judge(sale, purchases, complaints));
    }
    judgeAfterwards(afterwards, sales, purchases, complaints);
    return complaints;
  }

  /** Judges each guarantee, as long as there is no complaint. */
  public static void judgeAfterwards(
      List<Guarantee> guarantees,
      List<SaleAtRest> sales,
      Purchases purchases,
      List<String> complaints) {
    for (SaleAtRest sale : sales) {
      for (Guarantee guarantee : guarantees) {
        if (complaints.isEmpty()) { // one that fails may have waited for minutes
          guarantee.judge(sale, purchases, complaints);
        }
      }
    }
  }

  public static RunHistory read(Path file) {
    return JSON.readValue(file, RunHistory.class);
  }

  public void write(Path file) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    JSON.writerWithDefaultPrettyPrinter().writeValue(file, this);
  }
}
