package io.seckill.system.faults;

import io.seckill.system.guarantee.RunHistory;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/**
 * Judges the history of a failed run again, without servers. Its name keeps it out of every build;
 * the property {@code seckill.history} names the file, relative to the project's root.
 */
class JudgeHistory {

  @Test
  void everyGuaranteeHolds() {
    Path root = Path.of(System.getProperty("seckill.root"));
    String file =
        Objects.requireNonNull(System.getProperty("seckill.history"), "-Dseckill.history");
    RunHistory history = RunHistory.read(root.resolve(file));
    List<String> complaints = history.judge();
    if (!complaints.isEmpty()) {
      throw new BrokenRunError(history, complaints);
    }
  }
}
