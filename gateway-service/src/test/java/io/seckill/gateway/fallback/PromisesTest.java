package io.seckill.gateway.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.FallbackMode;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PromisesTest {

  private static final long SKU = 1_001;

  private long nanos = Duration.ofDays(1).toNanos();
  private long termRead;
  private boolean isRedis = true;

  private final Promises promises = promises(FallbackMode.AUTOMATIC);

  private Promises promises(FallbackMode mode) {
    return new Promises(
        mode, (sku, term) -> isRedis && termRead == term, new PromisedOrders(), () -> nanos);
  }

  @Test
  void withoutAFallbackItAlwaysMay() {
    isRedis = false;

    Promises off = promises(FallbackMode.OFF);

    assertThat(off.mayConfirm(SKU)).isTrue();
    assertThat(off.mustRemember()).isFalse();
  }

  @Test
  void mayNotBeforeOrderConsumerKnowsIt() {
    assertThat(promises.mayConfirm(SKU)).isFalse();
    assertThat(promises.mayConfirm()).as("of any sale").isFalse();

    promises.heard(nanos, 0);

    assertThat(promises.mayConfirm(SKU)).isTrue();
    assertThat(promises.mayConfirm()).as("of any sale").isTrue();
  }

  @Test
  void mayNotOnceNoHeartbeatWasAnsweredForHalfAMinute() {
    promises.heard(nanos, 0);
    nanos += Promises.HEARD_WITHIN.toNanos();
    assertThat(promises.mayConfirm(SKU)).isTrue();

    nanos++;

    assertThat(promises.mayConfirm(SKU)).isFalse();
  }

  @Test
  void mayNotWhileMySqlDecides() {
    promises.heard(nanos, 0);
    isRedis = false;

    assertThat(promises.mayConfirm(SKU)).isFalse();
  }

  @Test
  void mayNotByAReadOfTheProductsThatKnowsNothingOfTheFallback() {
    promises.heard(nanos, 0);
    promises.begins(1);
    promises.transferred(1, promises.registration());
    assertThat(promises.mayConfirm(SKU)).isFalse();

    termRead = 1;

    assertThat(promises.mayConfirm(SKU)).isTrue();
  }

  /** As after it was frozen through a whole fallback: Redis decides again, under another epoch. */
  @Test
  void mayNotBeforeWhatItPromisedIsTransferred() {
    promises.heard(nanos, 0);
    termRead = 1;
    assertThat(promises.mayConfirm(SKU)).as("by a read that knows of a term").isFalse();
    promises.begins(1);
    assertThat(promises.mayConfirm(SKU)).isFalse();

    promises.transferred(1, promises.registration());

    assertThat(promises.mayConfirm(SKU)).isTrue();
  }

  @Test
  void handsOverAgainAfterALongSilence() {
    promises.heard(nanos, 0);
    promises.begins(1);
    promises.heard(nanos, 1);
    promises.transferred(1, promises.registration());
    termRead = 1;
    assertThat(promises.mayConfirm(SKU)).isTrue();

    nanos += Promises.HEARD_WITHIN.toNanos() + 1;
    promises.heard(nanos, 1);

    assertThat(promises.mayConfirm(SKU)).isFalse();
    assertThat(promises.awaitedTerm()).isGreaterThan(promises.transferred());
  }

  @Test
  void aTermNeverGoesBack() {
    promises.begins(2);
    promises.begins(1);

    assertThat(promises.term()).isEqualTo(2);
  }
}
