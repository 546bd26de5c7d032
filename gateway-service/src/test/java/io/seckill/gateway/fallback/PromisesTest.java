package io.seckill.gateway.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.FallbackMode;
import io.seckill.gateway.fallback.Promises.SentHeartbeat;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PromisesTest {

  private static final long SKU = 1_001;

  private long nanos = Duration.ofDays(1).toNanos();
  private long wallMs = System.currentTimeMillis();
  private long termRead;
  private boolean isRedis = true;

  private final Promises promises = promises(FallbackMode.AUTOMATIC);

  private Promises promises(FallbackMode mode) {
    return new Promises(
        mode,
        (sku, term) -> isRedis && termRead == term,
        new PromisedOrders(),
        () -> nanos,
        () -> wallMs);
  }

  private void heard(long term) {
    heard(term, null);
  }

  private void heard(long term, @Nullable Long inMySql) {
    promises.heard(new SentHeartbeat(nanos, wallMs, term, promises.transferred()), inMySql);
  }

  /** Has transferred for a term, and may confirm again. */
  private void transferred(long term) {
    promises.begins(term);
    heard(term);
    promises.transferred(term, promises.registration());
    termRead = term;
    assertThat(promises.mayConfirm(SKU)).isTrue();
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

    heard(0);

    assertThat(promises.mayConfirm(SKU)).isTrue();
    assertThat(promises.mayConfirm()).as("of any sale").isTrue();
  }

  @Test
  void mayNotOnceNoHeartbeatWasAnsweredForHalfAMinute() {
    heard(0);
    nanos += Promises.HEARD_WITHIN.toNanos();
    assertThat(promises.mayConfirm(SKU)).isTrue();

    nanos++;

    assertThat(promises.mayConfirm(SKU)).isFalse();
  }

  @Test
  void mayNotWhileMySqlDecides() {
    heard(0);
    isRedis = false;

    assertThat(promises.mayConfirm(SKU)).isFalse();
  }

  @Test
  void mayNotByAReadOfTheProductsThatKnowsNothingOfTheFallback() {
    heard(0);
    promises.begins(1);
    promises.transferred(1, promises.registration());
    assertThat(promises.mayConfirm(SKU)).isFalse();

    termRead = 1;

    assertThat(promises.mayConfirm(SKU)).isTrue();
  }

  /** As after it was frozen through a whole fallback: Redis decides again, under another epoch. */
  @Test
  void mayNotBeforeWhatItPromisedIsTransferred() {
    heard(0);
    termRead = 1;
    assertThat(promises.mayConfirm(SKU)).as("by a read that knows of a term").isFalse();
    promises.begins(1);
    assertThat(promises.mayConfirm(SKU)).isFalse();

    promises.transferred(1, promises.registration());

    assertThat(promises.mayConfirm(SKU)).isTrue();
  }

  @Test
  void handsOverAgainAfterALongSilence() {
    heard(0);
    transferred(1);

    nanos += Promises.HEARD_WITHIN.toNanos() + 1;
    heard(1);

    assertThat(promises.mayConfirm(SKU)).isFalse();
    assertThat(promises.awaitedTerm()).isGreaterThan(promises.transferred());
  }

  /** Of a machine that sleeps only this clock goes on; it may also be set, in either direction. */
  @ParameterizedTest
  @CsvSource({"30, true", "-30, true", "31, false", "40, false", "-31, false"})
  void mayNotAfterItsMachineHasSleptUntilItHasTransferredAgain(long seconds, boolean may) {
    heard(0);
    transferred(1);

    wallMs += Duration.ofSeconds(seconds).toMillis();
    assertThat(promises.mayConfirm(SKU)).isEqualTo(may);
    heard(1);

    assertThat(promises.mayConfirm(SKU)).isEqualTo(may);
    assertThat(promises.awaitedTerm() > promises.transferred()).isEqualTo(!may);
  }

  /** order-consumer has removed this gateway and registered it again, or has older data. */
  @ParameterizedTest
  @CsvSource(
      value = {"0, true", "1, true", "2, false", "none, false"},
      nullValues = "none")
  void handsOverAgainWhatMySqlLacks(@Nullable Long inMySql, boolean again) {
    heard(0);
    transferred(2);

    heard(2, inMySql);

    assertThat(promises.awaitedTerm() > promises.transferred()).isEqualTo(again);
    assertThat(promises.mayConfirm(SKU)).isEqualTo(!again);
  }

  /** Its answer is of before the transfer. */
  @Test
  void aHeartbeatThatWasSentBeforeTheTransferTakesNothingBack() {
    heard(0);
    promises.begins(1);
    SentHeartbeat sent = new SentHeartbeat(nanos, wallMs, 1, promises.transferred());
    transferred(1);

    promises.heard(sent, 0L);

    assertThat(promises.mayConfirm(SKU)).isTrue();
  }

  @Test
  void aTermNeverGoesBack() {
    promises.begins(2);
    promises.begins(1);

    assertThat(promises.term()).isEqualTo(2);
  }
}
