package io.seckill.relay.publish;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderMessages;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class UnconfirmedWindowTest {

  private final UnconfirmedWindow window = new UnconfirmedWindow(4);
  private final List<OutboundOrder> confirmed = new ArrayList<>();

  @Test
  void handsOutWhatWasAckedInTheOrderOfTheAcks() {
    List<OutboundOrder> orders = enter(3);
    ack(2, false);
    ack(1, false);

    assertThat(window.drainConfirmed(confirmed)).isEqualTo(1);
    assertThat(confirmed).containsExactly(orders.get(1), orders.get(0));
    assertThat(window.drainConfirmed(confirmed)).isEqualTo(1);
    assertThat(confirmed).hasSize(2);
  }

  @Test
  void answersAllUpToATagAtOnceAndNoneTwice() {
    List<OutboundOrder> orders = enter(4);
    ack(2, false);
    ack(3, true);

    assertThat(window.drainConfirmed(confirmed)).isEqualTo(1);
    assertThat(confirmed).containsExactlyInAnyOrderElementsOf(orders.subList(0, 3));
  }

  /** The place of the first publish is that of the fifth by then. */
  @Test
  void takesASecondAnswerToOnePublishForNoAnswerToAnother() {
    window.enter(1, message(order(1)), 0);
    ack(1, false);
    for (int tag = 2; tag <= 5; tag++) {
      window.enter(tag, message(order(tag)), 0);
    }

    ack(1, false);

    assertThat(window.drainConfirmed(confirmed)).isEqualTo(4);
    assertThat(confirmed).hasSize(1);
  }

  @Test
  void hasRoomForItsCapacityBeyondTheOldestUnanswered() {
    enter(4);
    assertThat(window.room()).isZero();
    ack(3, false);
    assertThat(window.room()).isZero();
    ack(1, false);
    assertThat(window.room()).isEqualTo(1);
    ack(4, true);
    assertThat(window.room()).isEqualTo(4);
  }

  @Test
  void refusesMoreThanItHasRoomFor() {
    enter(4);
    assertThatThrownBy(() -> window.enter(5, message(order(5)), 0))
        .isInstanceOf(IllegalStateException.class);
  }

  /** facts.md 16: the return of an unroutable message comes before its ack. */
  @Test
  void doesNotTakeAnAckForAConfirmWhenTheMessageWasReturned() {
    List<OutboundOrder> orders = enter(2);
    window.returned(message(orders.get(0)).id(), "NO_ROUTE");
    ack(2, true);

    assertThat(window.drainConfirmed(confirmed)).isZero();
    assertThat(confirmed).containsExactly(orders.get(1));
    assertThat(window.takeRefusal()).contains("NO_ROUTE");
    assertThat(window.takeRefusal()).isNull();
    assertThat(window.failure()).isNull();
  }

  @Test
  void confirmsTheNextMessageInThePlaceOfOneThatWasReturned() {
    window.enter(1, message(order(1)), 0);
    window.returned(message(order(1)).id(), "NO_ROUTE");
    ack(1, false);

    for (int tag = 2; tag <= 5; tag++) {
      window.enter(tag, message(order(tag)), 0);
      ack(tag, false);
    }

    window.drainConfirmed(confirmed);
    assertThat(confirmed).hasSize(4);
  }

  @Test
  void countsAndConfirmsEachOrderOfAMessage() {
    List<Long> times = new ArrayList<>();
    OutboundMessage three = message(order(1), order(2), order(3));
    window.enter(1, three, 7);
    assertThat(window.pending()).isEqualTo(3);
    assertThat(window.room()).isEqualTo(1);
    assertThatIllegalStateException()
        .isThrownBy(() -> window.enter(2, message(order(4), order(5)), 0));

    assertThat(window.answer(1, false, true, times::add)).isEqualTo(3);

    assertThat(times).containsExactly(7L, 7L, 7L);
    assertThat(window.drainConfirmed(confirmed)).isZero();
    assertThat(confirmed).isEqualTo(three.orders());
    assertThat(window.room()).isEqualTo(4);
  }

  @Test
  void confirmsNoOrderOfAMessageThatWasReturned() {
    OutboundMessage two = message(order(1), order(2));
    window.enter(1, two, 0);
    window.returned(two.id(), "NO_ROUTE");
    ack(1, false);

    assertThat(window.drainConfirmed(confirmed)).isZero();
    assertThat(confirmed).isEmpty();
  }

  /** The second one has an order that is nowhere else. */
  @Test
  void confirmsNoOrderOfAMessageThatBeginsLikeAReturnedOne() {
    window.enter(1, message(order(1), order(2)), 0);
    window.enter(2, message(order(1), order(3)), 0);
    window.returned(message(order(1)).id(), "NO_ROUTE");
    ack(2, true);

    assertThat(window.drainConfirmed(confirmed)).isZero();
    assertThat(confirmed).isEmpty();
  }

  @Test
  void confirmsNeitherOfTwoPublishesOfAnOrderWhenBothWereReturned() {
    window.enter(1, message(order(1)), 0);
    window.enter(2, message(order(1)), 0);
    window.returned(message(order(1)).id(), "NO_ROUTE");
    window.returned(message(order(1)).id(), "NO_ROUTE");
    ack(2, true);

    assertThat(window.drainConfirmed(confirmed)).isZero();
    assertThat(confirmed).isEmpty();
  }

  @Test
  void doesNotConfirmWhatWasNacked() {
    List<OutboundOrder> orders = enter(3);
    window.answer(2, true, false, sentAt -> {});
    ack(3, false);

    assertThat(window.drainConfirmed(confirmed)).isZero();
    assertThat(confirmed).containsExactly(orders.get(2));
    assertThat(window.takeRefusal()).contains("nack");
  }

  /** One refused batch is one refusal, however many of its orders are nacked or returned. */
  @Test
  void waitsForTheLastAnswerOfABatchThatIsRefused() throws Exception {
    List<OutboundOrder> orders = enter(3);
    window.answer(1, false, false, sentAt -> {});
    Thread lane = new Thread(this::awaitAnswered);
    lane.start();
    eventually().until(() -> lane.getState() == Thread.State.TIMED_WAITING);

    window.returned(message(orders.get(1)).id(), "NO_ROUTE");
    ack(2, false);
    assertThat(lane.isAlive()).isTrue();

    window.answer(3, false, false, sentAt -> {});
    lane.join(TimeUnit.SECONDS.toMillis(30));
    assertThat(lane.isAlive()).isFalse();
  }

  private void awaitAnswered() {
    try {
      window.await(UnconfirmedWindow.ALL, TimeUnit.MINUTES.toNanos(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void endsTheNextWaitAtOnceWhenItIsWokenBefore() throws Exception {
    enter(1);
    window.wake();
    window.await(1, TimeUnit.MINUTES.toNanos(5));
    window.wake();
    window.await(UnconfirmedWindow.NONE, TimeUnit.MINUTES.toNanos(5));
    assertThat(window.pending()).isEqualTo(1);
  }

  @Test
  void waitsForAWakeAlsoWhenNothingIsInFlight() throws Exception {
    Thread lane = new Thread(this::awaitWoken);
    lane.start();
    eventually().until(() -> lane.getState() == Thread.State.TIMED_WAITING);

    window.wake();
    lane.join(TimeUnit.SECONDS.toMillis(30));
    assertThat(lane.isAlive()).isFalse();
  }

  private void awaitWoken() {
    try {
      window.await(UnconfirmedWindow.NONE, TimeUnit.MINUTES.toNanos(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void keepsTheFirstReasonOfItsFailure() {
    window.fail("closed");
    window.fail("no confirm");
    assertThat(window.failure()).isEqualTo("closed");
  }

  @Test
  void countsSilenceFromTheLastAnswer() {
    long longAgo = System.nanoTime() - TimeUnit.HOURS.toNanos(1);
    assertThat(window.silentNanos()).isZero();
    window.enter(1, message(order(1)), longAgo);
    window.enter(2, message(order(2)), longAgo);
    ack(1, false);
    assertThat(window.silentNanos()).isLessThan(TimeUnit.MINUTES.toNanos(10));
    ack(2, false);
    assertThat(window.silentNanos()).isZero();
  }

  /** The last answer, which is older here, says nothing about the broker's silence now. */
  @Test
  void countsSilenceAfterAPauseFromTheFirstPublish() {
    long inAnHour = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
    window.enter(1, message(order(1)), inAnHour);

    assertThat(window.silentNanos()).isNegative();
  }

  private List<OutboundOrder> enter(int count) {
    List<OutboundOrder> orders = new ArrayList<>();
    for (int tag = 1; tag <= count; tag++) {
      orders.add(order(tag));
      window.enter(tag, message(orders.get(tag - 1)), System.nanoTime());
    }
    return orders;
  }

  private void ack(long tag, boolean multiple) {
    window.answer(tag, multiple, true, sentAt -> {});
  }

  private static OutboundMessage message(OutboundOrder... orders) {
    return OutboundMessage.of(List.of(orders)).get(0);
  }

  private static OutboundOrder order(int n) {
    String message = OrderMessageCodec.encode(OrderMessages.of(1601, n));
    return OutboundOrder.of(message.getBytes(StandardCharsets.UTF_8), 0);
  }
}
