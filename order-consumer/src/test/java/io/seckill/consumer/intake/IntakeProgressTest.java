package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class IntakeProgressTest {

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000); // the clock may overflow
  private final IntakeProgress progress = new IntakeProgress(now::get);

  @Test
  void saysSoWhenTheWriterStandsStillForAMinute() {
    pass(Duration.ofSeconds(60));
    assertThat(progress.failure()).isEmpty();

    pass(Duration.ofSeconds(1));
    assertThat(progress.failure()).contains("has not moved for 61 s");

    progress.moved();
    assertThat(progress.failure()).isEmpty();
  }

  @Test
  void saysSoWhenOneDefectFollowsAnother() {
    for (int defect = 1; defect <= 2; defect++) {
      progress.failed(new LinkageError("no such method"));
      assertThat(progress.failure()).isEmpty();
      pass(Duration.ofSeconds(1));
    }
    progress.failed(new LinkageError("no such method"));

    assertThat(progress.failure().orElse("")).contains("3 times", "no such method");
  }

  @Test
  void forgetsDefectsThatDoNotComeAgain() {
    for (int defect = 1; defect <= 10; defect++) {
      progress.failed(new LinkageError("now and then"));
      assertThat(progress.failure()).isEmpty();
      pass(Duration.ofSeconds(31));
      progress.moved();
    }
    progress.failed(new IllegalStateException("first"));
    progress.failed(new IllegalStateException("second"));
    progress.failed(new IllegalStateException("third"));
    assertThat(progress.failure()).isPresent();

    pass(Duration.ofSeconds(31));

    assertThat(progress.failure()).isEmpty();
  }

  @Test
  void countsTheBatchesInARowThatMySqlFailedToStore() {
    assertThat(progress.failedBatches()).isZero();

    progress.batchFailed();
    progress.batchFailed();
    assertThat(progress.failedBatches()).isEqualTo(2);

    progress.batchStored();
    assertThat(progress.failedBatches()).isZero();
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
