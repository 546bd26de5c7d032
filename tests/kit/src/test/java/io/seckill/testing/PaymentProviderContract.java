package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The behaviour of a {@link PaymentProvider} that order-consumer relies on. The author of a
 * provider extends this class and runs it against the provider's test account. Every test uses
 * payment ids of its own.
 */
public abstract class PaymentProviderContract {

  private static final int CALLERS = 8;
  private static final int RACES = 20;

  private final OrderId order =
      new OrderId(ThreadLocalRandom.current().nextLong(1L << 40, Long.MAX_VALUE));

  /** The provider under test; the same in all calls. */
  protected abstract PaymentProvider provider();

  /** An amount that the provider charges. */
  protected long acceptedCents() {
    return 9_900;
  }

  /** The user who pays, with money enough for every test. */
  protected long payer() {
    return 7;
  }

  /** An amount that the provider declines; empty when the test account declines nothing. */
  protected OptionalLong declinedCents() {
    return OptionalLong.empty();
  }

  @Test
  void chargesOnceHoweverOftenItIsAsked() {
    Charge first = charge(order);
    Charge again = charge(order);

    assertThat(first).isInstanceOf(Charge.Charged.class).isEqualTo(again);
    assertThat(provider().find(order)).hasValue((Charge.Charged) first);
    assertThat(((Charge.Charged) first).chargeId()).matches("[\\x21-\\x7e]{1,64}");
  }

  @Test
  void chargesOnceWhenManyAskAtOnce() throws Exception {
    List<Charge> charges = atOnce(Collections.nCopies(CALLERS, () -> charge(order)));

    assertThat(charges).hasSize(CALLERS).doesNotContain(new Charge.Declined());
    assertThat(charges).containsOnly(charges.get(0));
    provider().refund(order);
    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void chargesEachPaymentByItself() {
    OrderId other = new OrderId(order.value() - 1);

    Charge one = charge(order);
    Charge two = charge(other);
    provider().refund(order);

    assertThat(one).isNotEqualTo(two);
    assertThat(provider().find(other)).hasValue((Charge.Charged) two);
  }

  @Test
  void namesEveryChargeDifferently() throws Exception {
    List<Callable<Charge>> calls = new ArrayList<>();
    for (long next = 0; next < CALLERS; next++) {
      OrderId id = new OrderId(order.value() - next);
      calls.add(() -> charge(id));
    }

    assertThat(atOnce(calls)).doesNotContain(new Charge.Declined()).doesNotHaveDuplicates();
  }

  @Test
  void findsNothingWhereNothingWasCharged() {
    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void takesNoMoneyWhenItDeclines() {
    OptionalLong amount = declinedCents();
    assumeTrue(amount.isPresent(), "the test account declines nothing");

    assertThat(charge(order, amount.getAsLong())).isEqualTo(new Charge.Declined());
    assertThat(charge(order, amount.getAsLong())).isEqualTo(new Charge.Declined());
    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void refundsOnceHoweverOftenItIsAsked() {
    charge(order);

    provider().refund(order);
    provider().refund(order);

    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void doesNotChargeAgainAfterARefund() {
    charge(order);
    provider().refund(order);

    assertThat(charge(order)).isEqualTo(new Charge.Declined());
    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void aRefundBeforeAnyChargeIsNoError() {
    provider().refund(order);

    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void declinesWhatWasRefundedBeforeItsChargeWhenPaymentsCanBeClosed() {
    assumeTrue(closesPayments(), "this provider books late charges");
    provider().refund(order);

    assertThat(charge(order)).isEqualTo(new Charge.Declined());
    assertThat(provider().find(order)).isEmpty();
  }

  @Test
  void keepsNoMoneyWhenAChargeAndARefundMeetAndPaymentsCanBeClosed() throws Exception {
    assumeTrue(closesPayments(), "this provider books late charges");
    for (long race = 0; race < RACES; race++) {
      OrderId raced = new OrderId(order.value() - race);

      atOnce(
          List.of(
              () -> charge(raced),
              () -> {
                provider().refund(raced);
                return new Charge.Declined();
              }));

      assertThat(provider().find(raced)).isEmpty();
    }
  }

  @Test
  void saysHowLateItMayBook() {
    assertThat(provider().longestBookingDelay())
        .isBetween(Duration.ZERO, Duration.ofDays(30))
        .isEqualTo(provider().longestBookingDelay());
  }

  private boolean closesPayments() {
    return provider().longestBookingDelay().isZero();
  }

  private Charge charge(OrderId id) {
    return charge(id, acceptedCents());
  }

  private Charge charge(OrderId id, long amountCents) {
    return provider().charge(new PaymentProvider.ChargeRequest(id, payer(), amountCents));
  }

  private static List<Charge> atOnce(List<Callable<Charge>> calls) throws Exception {
    CyclicBarrier together = new CyclicBarrier(calls.size());
    ExecutorService threads = Executors.newFixedThreadPool(calls.size());
    try {
      List<Future<Charge>> running = new ArrayList<>();
      for (Callable<Charge> call : calls) {
        running.add(
            threads.submit(
                () -> {
                  together.await(1, TimeUnit.MINUTES);
                  return call.call();
                }));
      }
      List<Charge> answers = new ArrayList<>();
      for (Future<Charge> one : running) {
        answers.add(one.get(1, TimeUnit.MINUTES));
      }
      return answers;
    } finally {
      threads.shutdownNow();
    }
  }
}
