package io.seckill.relay.lane;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.relay.lane.HandOver.Reservation;
import io.seckill.relay.publish.OutboundOrder;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HandOverTest {

  private static final int WINDOW = 10;

  private final HandOver handOver = new HandOver(WINDOW);
  private int wakes;

  @Test
  void reservesNothingUntilItsLaneOpensIt() {
    assertThat(handOver.reserve(1)).isNull();
    assertThat(open("first")).isTrue();
    assertThat(handOver.reserve(1).token()).isEqualTo("first");
  }

  @Test
  void givesTheLaneWhatWasPushedInItsOrderAndWakesIt() {
    open("first");
    Reservation one = handOver.reserve(2);
    Reservation other = handOver.reserve(1);
    other.handOver(orders("c"));
    one.handOver(orders("a", "b"));

    assertThat(wakes).isEqualTo(2);
    assertThat(taken(2, 0)).containsExactly("c", "a");
    assertThat(taken(2, 2)).containsExactly("b");
    assertThat(taken(2, 3)).isEmpty();
  }

  @Test
  void boundsWhatIsReservedHandedOverAndNotSettledTogether() {
    open("first");
    Reservation six = handOver.reserve(6);
    assertThat(handOver.reserve(5)).as("6 reserved").isNull();

    six.handOver(orders("a", "b"));
    assertThat(handOver.reserve(9)).as("2 handed over").isNull();
    Reservation eight = handOver.reserve(8);
    assertThat(eight).isNotNull();
    eight.handOver(List.of());

    assertThat(taken(WINDOW, 3)).hasSize(2);
    assertThat(handOver.reserve(6)).as("5 not settled").isNull();
    assertThat(taken(WINDOW, 0)).isEmpty();
    assertThat(handOver.reserve(WINDOW)).as("all settled").isNotNull();
  }

  @Test
  void wakesNobodyForACallThatPushedNothing() {
    open("first");
    handOver.reserve(3).handOver(List.of());

    assertThat(wakes).isZero();
    assertThat(handOver.outstanding()).isZero();
  }

  @Test
  void countsWhatMayBeInThePrivateQueueAndWasNotTaken() {
    open("first");
    handOver.reserve(2).handOver(orders("a", "b"));
    handOver.reserve(3);
    assertThat(handOver.outstanding()).isEqualTo(5);

    taken(1, 0);
    assertThat(handOver.outstanding()).isEqualTo(4);
  }

  @Test
  void isClosedForTheRestOfALeaseAfterAnUnknownOutcome() {
    open("first");
    handOver.reserve(1).handOver(orders("a"));
    Reservation lost = handOver.reserve(2);
    lost.unknown();

    assertThat(wakes).isEqualTo(2);
    assertThat(handOver.reserve(1)).isNull();
    assertThat(taken(WINDOW, 0)).as("the lane reads these in its private queue").isEmpty();
    assertThat(open("first")).isFalse();
    assertThat(open("second")).isTrue();
    assertThat(handOver.reserve(WINDOW).token()).isEqualTo("second");
  }

  @Test
  void dropsWhatWasPushedUnderALeaseThatIsNoLongerOpen() {
    open("first");
    Reservation late = handOver.reserve(2);
    Reservation lost = handOver.reserve(2);
    handOver.close();
    open("second");

    late.handOver(orders("a"));
    lost.unknown();

    assertThat(wakes).isZero();
    assertThat(taken(WINDOW, 0)).isEmpty();
    assertThat(handOver.reserve(WINDOW).token()).as("still open").isEqualTo("second");
  }

  private boolean open(String token) {
    return handOver.open(token, () -> wakes++);
  }

  private List<String> taken(int most, int unsettled) {
    return handOver.take(most, unsettled).stream()
        .map(order -> new String(order.body(), UTF_8))
        .toList();
  }

  private static List<OutboundOrder> orders(String... texts) {
    return Stream.of(texts).map(text -> OutboundOrder.of(text.getBytes(UTF_8))).toList();
  }
}
