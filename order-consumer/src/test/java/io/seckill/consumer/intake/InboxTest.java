package io.seckill.consumer.intake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import io.seckill.common.order.OrderLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class InboxTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration FOREVER = Duration.ofDays(1);

  /** Most messages; each may have {@value OrderLines#MOST_ORDERS} orders. */
  private static final int PREFETCH = 2;

  private static final int MOST = PREFETCH * OrderLines.MOST_ORDERS;

  private final Inbox inbox = new Inbox(PREFETCH);

  @Test
  void doesNotWaitWhenThereIsAFullBatch() throws InterruptedException {
    range(5);

    assertThat(numbers(inbox.take(3, LONG, LONG))).containsExactly(0L, 1L, 2L);
    assertThat(numbers(inbox.take(2, LONG, LONG))).containsExactly(3L, 4L);
  }

  @Test
  void countsTheLingerFromTheArrivalOfTheFirst() throws InterruptedException {
    long longAgo = System.nanoTime() - LONG.toNanos();
    ReceivedMessage message = new ReceivedMessage(7, "0", new BasicProperties(), 1);
    inbox.offer(new Delivery(7, message, new byte[0], null, null, longAgo));

    assertThat(numbers(inbox.take(3, Duration.ofSeconds(30), LONG))).containsExactly(7L);
  }

  @Test
  void givesALoneOrderAwayAfterTheLinger() throws InterruptedException {
    range(1);

    assertThat(numbers(inbox.take(500, Duration.ofMillis(2), LONG))).containsExactly(0L);
  }

  @Test
  void isEmptyAfterTheIdleTime() throws InterruptedException {
    assertThat(inbox.take(3, Duration.ZERO, Duration.ofMillis(1))).isEmpty();
  }

  @Test
  void takesDueRetriesFirst() throws InterruptedException {
    inbox.retryLater(delivery(9), Duration.ZERO);
    inbox.retryLater(delivery(10), LONG);
    range(2);

    assertThat(numbers(inbox.take(3, Duration.ZERO, LONG))).containsExactly(9L, 0L, 1L);
  }

  @Test
  void refusesMoreThanThePrefetch() {
    range(MOST);
    inbox.offer(delivery(MOST)); // in the place of the wake-up

    assertThat(inbox.offer(delivery(MOST + 1))).isFalse();
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void waitsNoLongerWhenWoken() throws InterruptedException {
    inbox.wake();
    inbox.wake();

    assertThat(inbox.take(3, FOREVER, FOREVER)).isEmpty();
    assertThat(inbox.take(3, Duration.ZERO, Duration.ofMillis(1))).as("woken once").isEmpty();
    inbox.wake();
    assertThat(inbox.take(3, FOREVER, FOREVER)).isEmpty();
  }

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES)
  void waitsOnlyUntilARetryIsDue() throws InterruptedException {
    inbox.retryLater(delivery(9), Duration.ofMillis(20));

    List<Long> taken = new ArrayList<>();
    while (taken.isEmpty()) {
      taken.addAll(numbers(inbox.take(3, Duration.ZERO, FOREVER)));
    }
    assertThat(taken).containsExactly(9L);
  }

  @Test
  void hasRoomForThePrefetchAlsoWhenWoken() throws InterruptedException {
    inbox.wake();
    range(MOST);
    inbox.wake();

    assertThat(inbox.take(2 * MOST, Duration.ZERO, LONG)).as("the wait ends").isEmpty();
    assertThat(inbox.take(2 * MOST, Duration.ZERO, LONG)).hasSize(MOST);
  }

  @Test
  void remembersWhatWasPostponedUntilItIsSettled() throws InterruptedException {
    inbox.retryLater(delivery(5), Duration.ZERO);

    assertThat(inbox.hasPostponedBefore(delivery(5))).isFalse();
    assertThat(inbox.hasPostponedBefore(delivery(6))).isTrue();
    assertThat(numbers(inbox.take(1, Duration.ZERO, LONG))).containsExactly(5L);
    assertThat(inbox.hasPostponedBefore(delivery(6))).as("while it is retried").isTrue();

    inbox.settled(List.of(delivery(4), delivery(5)));
    assertThat(inbox.hasPostponedBefore(delivery(6))).isFalse();
  }

  /** A barrier behind a message must wait for each of its orders. */
  @Test
  void anotherOrderOfTheMessageSettlesNoneThatWasPostponed() {
    Envelope envelope = new Envelope(1, false, "", "0");
    List<Delivery> two = Delivery.of(envelope, new BasicProperties(), "{}\n{}".getBytes(UTF_8), 4);
    inbox.retryLater(two.get(0), Duration.ZERO);

    inbox.settled(List.of(two.get(1)));
    assertThat(inbox.hasPostponedBefore(delivery(7))).isTrue();
    inbox.settled(List.of(two.get(0)));
    assertThat(inbox.hasPostponedBefore(delivery(7))).isFalse();
  }

  private void range(int count) {
    for (int number = 0; number < count; number++) {
      assertThat(inbox.offer(delivery(number))).isTrue();
    }
  }

  private static Delivery delivery(long number) {
    Envelope envelope = new Envelope(number, false, "", "0");
    return Delivery.of(envelope, new BasicProperties(), new byte[0], number - 1).get(0);
  }

  private static List<Long> numbers(List<Delivery> deliveries) {
    return deliveries.stream().map(Delivery::number).toList();
  }
}
