package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class InboxTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration FOREVER = Duration.ofDays(1);

  private final Inbox inbox = new Inbox(10);

  @Test
  void doesNotWaitWhenThereIsAFullBatch() throws InterruptedException {
    range(5);

    assertThat(tags(inbox.take(3, LONG, LONG))).containsExactly(0L, 1L, 2L);
    assertThat(tags(inbox.take(2, LONG, LONG))).containsExactly(3L, 4L);
  }

  @Test
  void countsTheLingerFromTheArrivalOfTheFirst() throws InterruptedException {
    long longAgo = System.nanoTime() - LONG.toNanos();
    inbox.offer(new Delivery(7, "0", new byte[0], new BasicProperties(), null, null, longAgo));

    assertThat(tags(inbox.take(3, Duration.ofSeconds(30), LONG))).containsExactly(7L);
  }

  @Test
  void givesALoneOrderAwayAfterTheLinger() throws InterruptedException {
    range(1);

    assertThat(tags(inbox.take(500, Duration.ofMillis(2), LONG))).containsExactly(0L);
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

    assertThat(tags(inbox.take(3, Duration.ZERO, LONG))).containsExactly(9L, 0L, 1L);
  }

  @Test
  void refusesMoreThanThePrefetch() {
    range(10);
    inbox.offer(delivery(11)); // in the place of the wake-up

    assertThat(inbox.offer(delivery(12))).isFalse();
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
      taken.addAll(tags(inbox.take(3, Duration.ZERO, FOREVER)));
    }
    assertThat(taken).containsExactly(9L);
  }

  @Test
  void hasRoomForThePrefetchAlsoWhenWoken() throws InterruptedException {
    inbox.wake();
    range(10);
    inbox.wake();

    assertThat(inbox.take(20, Duration.ZERO, LONG)).as("the wait ends").isEmpty();
    assertThat(inbox.take(20, Duration.ZERO, LONG)).hasSize(10);
  }

  @Test
  void remembersWhatWasPostponedUntilItIsSettled() throws InterruptedException {
    inbox.retryLater(delivery(5), Duration.ZERO);

    assertThat(inbox.hasPostponedBefore(delivery(5))).isFalse();
    assertThat(inbox.hasPostponedBefore(delivery(6))).isTrue();
    assertThat(tags(inbox.take(1, Duration.ZERO, LONG))).containsExactly(5L);
    assertThat(inbox.hasPostponedBefore(delivery(6))).as("while it is retried").isTrue();

    inbox.settled(List.of(delivery(4), delivery(5)));
    assertThat(inbox.hasPostponedBefore(delivery(6))).isFalse();
  }

  private void range(int count) {
    for (int tag = 0; tag < count; tag++) {
      assertThat(inbox.offer(delivery(tag))).isTrue();
    }
  }

  private static Delivery delivery(long tag) {
    return Delivery.of(new Envelope(tag, false, "", "0"), new BasicProperties(), new byte[0]);
  }

  private static List<Long> tags(List<Delivery> deliveries) {
    return deliveries.stream().map(Delivery::tag).toList();
  }
}
