package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.relay.lane.UnsettledOrders.QueueState;
import io.seckill.relay.publish.OutboundOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A lane's view of its private queue, and when it may take new orders. */
class UnsettledOrdersTest {

  private static final int MOST = 10;

  private final UnsettledOrders orders = new UnsettledOrders();

  @Test
  void countsOrdersFromTheirPublishUntilTheirRemoval() {
    List<OutboundOrder> published = publish(3);
    confirm(published.get(1));
    assertThat(orders.count()).isEqualTo(3);
    assertThat(orders.room(MOST)).as("the confirmed one is removed first").isEqualTo(8);

    orders.removed();

    assertThat(orders.count()).isEqualTo(2);
    assertThat(orders.confirmed()).isEmpty();
    assertThat(orders.room(MOST)).isEqualTo(8);
    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
  }

  @Test
  void readsTheQueueUntilItIsEmptyAfterALostLink() {
    publish(3);
    orders.linkLost();
    assertUnread();

    orders.read(2);
    List<OutboundOrder> page = publish(2);
    assertAwaitingAnswers(2);
    page.forEach(this::confirm);
    orders.removed();
    assertUnread();

    orders.read(0);
    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
    assertThat(orders.room(MOST)).isEqualTo(MOST);
  }

  /** So that orders the broker has confirmed are not sent again. */
  @Test
  void removesConfirmedOrdersBeforeItReadsTheQueue() {
    confirm(publish(3).get(0));
    orders.linkLost();
    assertAwaitingAnswers(1);

    orders.removed();
    assertUnread();
  }

  /** So that only orders with an unknown outcome are sent again. */
  @Test
  void awaitsTheAnswersInFlightWhenRedisFailed() {
    List<OutboundOrder> published = publish(2);
    orders.queueUnknown();
    assertAwaitingAnswers(2);

    published.forEach(this::confirm);
    orders.removed();
    assertUnread();
  }

  @Test
  void awaitsTheAnswersStillPendingAfterARefusal() {
    confirm(publish(5).get(0));
    orders.refused(2);
    assertAwaitingAnswers(3);
  }

  @Test
  void readsAQueueThatIsLongerThanCounted() {
    orders.compareWith(1);
    assertUnread();
  }

  @Test
  void takesAQueueThatIsNotLongerThanCountedForKnown() {
    publish(2);
    orders.compareWith(2);
    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
    orders.compareWith(1);
    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
  }

  @Test
  void endsNoRecoveryByALengthAlone() {
    orders.queueUnknown();
    orders.compareWith(0);
    assertUnread();
  }

  @Test
  void forgetsEverythingWithItsLease() {
    confirm(publish(3).get(0));
    orders.queueUnknown();
    orders.leaseLost();

    assertThat(orders.state()).isEqualTo(QueueState.COUNTED);
    assertThat(orders.count()).isZero();
    assertThat(orders.confirmed()).isEmpty();
    assertThat(orders.room(MOST)).isEqualTo(MOST);
  }

  @Test
  void areFruitlessAfterTwoFailuresInARow() {
    for (Runnable failure : List.<Runnable>of(orders::linkLost, () -> orders.refused(0))) {
      publish(3);
      failure.run();
      orders.linkLost(); // it could not be opened
      assertThat(orders.areFruitless()).isFalse();

      publish(3);
      failure.run();
      orders.leaseLost();
      assertThat(orders.areFruitless()).isTrue();
      assertThat(orders.room(MOST)).isEqualTo(1);

      orders.removed();
      assertThat(orders.areFruitless()).as("nothing was confirmed").isTrue();
      List<OutboundOrder> trial = publish(1);
      assertThat(orders.room(MOST)).isZero();
      confirm(trial.get(0));
      orders.removed();
      assertThat(orders.areFruitless()).isFalse();
      assertThat(orders.room(MOST)).isEqualTo(MOST);
    }
  }

  @Test
  void losingALinkWithoutPublishedOrdersIsNoFailureOfPublishing() {
    confirm(publish(1).get(0));
    orders.linkLost();
    orders.linkLost();
    assertThat(orders.areFruitless()).isFalse();
  }

  private void assertAwaitingAnswers(int count) {
    assertThat(orders.state()).isEqualTo(QueueState.AWAITING_ANSWERS);
    assertThat(orders.count()).isEqualTo(count);
    assertThat(orders.room(MOST)).isZero();
  }

  private void assertUnread() {
    assertThat(orders.state()).isEqualTo(QueueState.UNREAD);
    assertThat(orders.count()).isZero();
    assertThat(orders.room(MOST)).isZero();
  }

  private List<OutboundOrder> publish(int count) {
    List<OutboundOrder> published =
        IntStream.range(0, count)
            .mapToObj(i -> OutboundOrder.of(("entry " + i).getBytes(StandardCharsets.UTF_8), 0))
            .toList();
    orders.published(published);
    return published;
  }

  private void confirm(OutboundOrder order) {
    orders.confirmed().add(order);
  }
}
