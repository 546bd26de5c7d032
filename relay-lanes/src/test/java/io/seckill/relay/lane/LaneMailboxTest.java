package io.seckill.relay.lane;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.relay.lane.LaneMailbox.Reservation;
import io.seckill.relay.publish.OutboundOrder;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LaneMailboxTest {

  private static final int WINDOW = 10;

  private final LaneMailbox mailbox = new LaneMailbox(WINDOW);
  private int wakes;

  @Test
  void reservesNothingUntilItsLaneOpensIt() {
    assertThat(mailbox.reserve(1)).isNull();
    assertThat(open("first")).isTrue();
    assertThat(mailbox.reserve(1).token()).isEqualTo("first");
  }

  @Test
  void givesTheLaneWhatWasPushedInItsOrderAndWakesIt() {
    open("first");
    Reservation one = mailbox.reserve(2);
    Reservation other = mailbox.reserve(1);
    other.deliver(orders("c"));
    one.deliver(orders("a", "b"));

    assertThat(wakes).isEqualTo(2);
    assertThat(taken(2, 0)).containsExactly("c", "a");
    assertThat(taken(2, 2)).containsExactly("b");
    assertThat(taken(2, 3)).isEmpty();
  }

  @Test
  void boundsWhatIsReservedDeliveredAndNotSettledTogether() {
    open("first");
    Reservation six = mailbox.reserve(6);
    assertThat(mailbox.reserve(5)).as("6 reserved").isNull();

    six.deliver(orders("a", "b"));
    assertThat(mailbox.reserve(9)).as("2 delivered").isNull();
    Reservation eight = mailbox.reserve(8);
    assertThat(eight).isNotNull();
    eight.deliver(List.of());

    assertThat(taken(WINDOW, 3)).hasSize(2);
    assertThat(mailbox.reserve(6)).as("5 not settled").isNull();
    assertThat(taken(WINDOW, 0)).isEmpty();
    assertThat(mailbox.reserve(WINDOW)).as("all settled").isNotNull();
  }

  @Test
  void takesTheOrdersOfOneCallAtATimeOnTrial() {
    mailbox.open("first", () -> wakes++, true);
    Reservation call = mailbox.reserve(3);
    assertThat(mailbox.reserve(1)).as("it is under way").isNull();
    call.deliver(orders("a", "b", "c"));
    assertThat(mailbox.reserve(1)).as("it is delivered").isNull();
    assertThat(taken(WINDOW, 0)).hasSize(3);
    assertThat(mailbox.reserve(1)).as("it is not settled").isNull();

    open("first");
    assertThat(mailbox.reserve(WINDOW - 4)).as("the trial is over").isNotNull();
    assertThat(mailbox.reserve(1)).isNotNull();
  }

  @Test
  void wakesNobodyForACallThatPushedNothing() {
    open("first");
    mailbox.reserve(3).deliver(List.of());

    assertThat(wakes).isZero();
    assertThat(mailbox.outstanding()).isZero();
  }

  @Test
  void countsWhatMayBeInThePrivateQueueAndWasNotTaken() {
    open("first");
    mailbox.reserve(2).deliver(orders("a", "b"));
    mailbox.reserve(3);
    assertThat(mailbox.outstanding()).isEqualTo(5);

    taken(1, 0);
    assertThat(mailbox.outstanding()).isEqualTo(4);
  }

  @Test
  void isClosedForTheRestOfALeaseAfterAnUnknownOutcome() {
    open("first");
    mailbox.reserve(1).deliver(orders("a"));
    Reservation lost = mailbox.reserve(2);
    lost.unknown();

    assertThat(wakes).isEqualTo(2);
    assertThat(mailbox.reserve(1)).isNull();
    assertThat(taken(WINDOW, 0)).as("the lane reads these in its private queue").isEmpty();
    assertThat(open("first")).isFalse();
    assertThat(open("second")).isTrue();
    assertThat(mailbox.reserve(WINDOW).token()).isEqualTo("second");
  }

  @Test
  void dropsWhatWasPushedUnderALeaseThatIsNoLongerOpen() {
    open("first");
    Reservation late = mailbox.reserve(2);
    Reservation lost = mailbox.reserve(2);
    mailbox.close();
    open("second");

    late.deliver(orders("a"));
    lost.unknown();

    assertThat(wakes).isZero();
    assertThat(taken(WINDOW, 0)).isEmpty();
    assertThat(mailbox.reserve(WINDOW).token()).as("still open").isEqualTo("second");
  }

  private boolean open(String token) {
    return mailbox.open(token, () -> wakes++, false);
  }

  private List<String> taken(int most, int unsettled) {
    return mailbox.take(most, unsettled).stream()
        .map(order -> new String(order.body(), UTF_8))
        .toList();
  }

  private static List<OutboundOrder> orders(String... texts) {
    return Stream.of(texts).map(text -> OutboundOrder.of(text.getBytes(UTF_8), 0)).toList();
  }
}
