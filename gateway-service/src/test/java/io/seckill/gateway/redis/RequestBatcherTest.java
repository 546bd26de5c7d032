package io.seckill.gateway.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RequestBatcherTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final CountDownLatch gate = new CountDownLatch(1);
  private final List<Integer> batches = new CopyOnWriteArrayList<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  @Test
  void sendsTheFirstAtOnceAndTheRestTogetherWhenAThreadIsFree() {
    try (RequestBatcher<Letter> post = batcher(1, 1, 1_000, LONG, LONG)) {
      Letter first = offered(post, 3);
      await().until(() -> batches.size() == 1);
      List<Letter> later = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        later.add(offered(post, 3));
      }
      gate.countDown();

      await().until(() -> later.stream().allMatch(letter -> letter.delivered));
      assertThat(first.delivered).isTrue();
      assertThat(batches).containsExactly(1, 64, 36);
    }
  }

  @Test
  void neverMixesPartitionsAndServesAllOfThem() {
    try (RequestBatcher<Letter> post = batcher(2, 1, 1_000, LONG, LONG)) {
      List<Letter> letters = new ArrayList<>();
      for (int i = 0; i < 160; i++) {
        letters.add(offered(post, i % 16));
      }
      gate.countDown();

      await().until(() -> letters.stream().allMatch(letter -> letter.delivered));
      assertThat(letters).allMatch(letter -> letter.deliveredAs == letter.partition);
    }
  }

  @Test
  void keepsNoMoreBatchesOfAPartitionUnderwayThanAllowed() {
    try (RequestBatcher<Letter> post = batcher(4, 2, 1_000, LONG, LONG)) {
      List<Letter> letters = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        letters.add(offered(post, 5));
      }
      await().until(() -> batches.size() == 2);
      gate.countDown();

      await().until(() -> letters.stream().allMatch(letter -> letter.delivered));
      assertThat(most.get()).isEqualTo(2);
    }
  }

  @Test
  void refusesAtOnceWhenThePartitionsQueueIsFull() {
    try (RequestBatcher<Letter> post = batcher(1, 1, 3, LONG, LONG)) {
      offered(post, 0);
      await().until(() -> batches.size() == 1);
      for (int i = 0; i < 3; i++) {
        offered(post, 0);
      }

      assertThat(post.offer(0, new Letter(0))).isFalse();
      assertThat(post.depth()).isEqualTo(3);
      assertThat(post.offer(1, new Letter(1))).as("another partition has room").isTrue();
      gate.countDown();
    }
  }

  @Test
  void answersWhatWaitsTooLongAsNotSentAndWhatIsUnderwayAsUnknown() {
    try (RequestBatcher<Letter> post =
        batcher(1, 1, 100, Duration.ofMillis(50), Duration.ofMillis(150))) {
      Letter underway = offered(post, 0);
      await().until(() -> batches.size() == 1);
      Letter waiting = offered(post, 0);

      await().until(() -> waiting.failure == PendingRequest.Failure.NOT_SENT);
      await().until(() -> underway.failure == PendingRequest.Failure.UNKNOWN);
      gate.countDown();
      Letter next = offered(post, 0);
      await().until(() -> next.delivered);
      assertThat(underway.delivered).as("a late answer changes nothing").isFalse();
      assertThat(batches).as("a request answered as not sent is never sent").containsExactly(1, 1);
    }
  }

  @Test
  void failsWhatACarrierLeavesOpenAndGoesOn() {
    gate.countDown();
    AtomicInteger calls = new AtomicInteger();
    try (RequestBatcher<Letter> post =
        new RequestBatcher<>(
            "test",
            new RequestBatcherProperties(1, 1, 64, 100, LONG, LONG),
            false,
            (partition, letters) -> {
              if (calls.getAndIncrement() == 0) {
                throw new IllegalStateException("for the test");
              }
              letters.forEach(letter -> letter.deliver(partition));
            })) {
      Letter first = offered(post, 0);
      await().until(() -> first.failure == PendingRequest.Failure.UNKNOWN);
      Letter second = offered(post, 0);
      await().until(() -> second.delivered);
    }
  }

  @Test
  void carriesWhatItTookBeforeItStops() {
    RequestBatcher<Letter> post = batcher(2, 2, 1_000, LONG, LONG);
    List<Letter> letters = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      letters.add(offered(post, i % 16));
    }
    gate.countDown();
    post.close();

    assertThat(letters).allMatch(letter -> letter.delivered);
    assertThat(post.offer(0, new Letter(0))).isFalse();
  }

  @Test
  void refusesBoundsThatMakeNoSense() {
    assertThatThrownBy(() -> new RequestBatcherProperties(0, 1, 64, 1, LONG, LONG))
        .hasMessageContaining("threads");
    assertThatThrownBy(() -> new RequestBatcherProperties(2, 3, 64, 1, LONG, LONG))
        .hasMessageContaining("batches-per-partition");
    assertThatThrownBy(() -> new RequestBatcherProperties(1, 1, 65, 1, LONG, LONG))
        .hasMessageContaining("max-batch");
    assertThatThrownBy(() -> new RequestBatcherProperties(1, 1, 1, 1, LONG, Duration.ofMillis(1)))
        .hasMessageContaining("answer-within");
  }

  private RequestBatcher<Letter> batcher(
      int threads, int perPartition, int capacity, Duration queueWait, Duration answerWithin) {
    return new RequestBatcher<>(
        "test",
        new RequestBatcherProperties(threads, perPartition, 64, capacity, queueWait, answerWithin),
        true,
        this::execute);
  }

  private void execute(int partition, List<Letter> letters) {
    most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    batches.add(letters.size());
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    letters.forEach(letter -> letter.deliver(partition));
    atOnce.decrementAndGet();
  }

  private static Letter offered(RequestBatcher<Letter> post, int partition) {
    Letter letter = new Letter(partition);
    assertThat(post.offer(partition, letter)).isTrue();
    return letter;
  }

  private static final class Letter extends PendingRequest {
    private final int partition;
    private volatile boolean delivered;
    private volatile int deliveredAs;
    private volatile @Nullable Failure failure;

    Letter(int partition) {
      this.partition = partition;
    }

    void deliver(int as) {
      if (settle()) {
        deliveredAs = as;
        delivered = true;
      }
    }

    @Override
    public void fail(Failure why) {
      if (settle()) {
        failure = why;
      }
    }
  }
}
