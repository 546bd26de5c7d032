package io.seckill.gateway.batching;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

class RequestBatcherTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final CountDownLatch gate = new CountDownLatch(1);
  private final Set<TestRequest> carried = ConcurrentHashMap.newKeySet();
  private final List<Integer> batches = new CopyOnWriteArrayList<>();
  private final List<Set<Integer>> partitions = new CopyOnWriteArrayList<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  @Test
  void sendsTheFirstAtOnceAndTheRestTogetherWhenAThreadIsFree() {
    try (RequestBatcher<TestRequest> post = batcher(1, 1, 1_000, LONG, LONG)) {
      TestRequest first = offered(post, 3);
      eventually().until(() -> batches.size() == 1);
      List<TestRequest> later = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        later.add(offered(post, 3));
      }
      gate.countDown();

      eventually().until(() -> later.stream().allMatch(request -> request.delivered));
      assertThat(first.delivered).isTrue();
      assertThat(batches).containsExactly(1, 64, 36);
    }
  }

  @Test
  void neverMixesPartitionsThatAreApartAndServesAllOfThem() {
    try (RequestBatcher<TestRequest> post = batcher(2, 1, 1_000, LONG, LONG)) {
      List<TestRequest> requests = new ArrayList<>();
      for (int i = 0; i < 160; i++) {
        requests.add(offered(post, i % 16));
      }
      gate.countDown();

      eventually().until(() -> requests.stream().allMatch(request -> request.delivered));
      assertThat(partitions).allMatch(ofOneBatch -> ofOneBatch.size() == 1);
    }
  }

  @Test
  void mixesPartitionsOfOneServerAndTakesFromThemInTurn() {
    try (RequestBatcher<TestRequest> post =
        new RequestBatcher<>(
            "test",
            new RequestBatcherProperties(1, 1, 64, 1_000, LONG, LONG),
            false,
            this::execute)) {
      offered(post, 15);
      eventually().until(() -> batches.size() == 1);
      for (int i = 0; i < 100; i++) {
        offered(post, 3);
      }
      for (int partition = 0; partition < 3; partition++) {
        offered(post, partition);
      }
      gate.countDown();

      eventually().until(() -> batches.size() == 3);
      assertThat(partitions).containsExactly(Set.of(15), Set.of(3), Set.of(0, 1, 2, 3));
      assertThat(batches).containsExactly(1, 64, 39);
    }
  }

  @Test
  void keepsNoMoreBatchesOfAPartitionUnderwayThanAllowed() {
    try (RequestBatcher<TestRequest> post = batcher(4, 2, 1_000, LONG, LONG)) {
      List<TestRequest> requests = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        requests.add(offered(post, 5));
      }
      eventually().until(() -> batches.size() == 2);
      gate.countDown();

      eventually().until(() -> requests.stream().allMatch(request -> request.delivered));
      assertThat(most.get()).isEqualTo(2);
    }
  }

  @Test
  void refusesAtOnceWhenThePartitionsQueueIsFull() {
    try (RequestBatcher<TestRequest> post = batcher(1, 1, 3, LONG, LONG)) {
      offered(post, 0);
      eventually().until(() -> batches.size() == 1);
      for (int i = 0; i < 3; i++) {
        offered(post, 0);
      }

      assertThat(offered(post, 0).failure).isEqualTo(PendingRequest.Failure.NOT_SENT);
      assertThat(post.depth()).isEqualTo(3);
      assertThat(offered(post, 1).failure).as("another partition has room").isNull();
      gate.countDown();
    }
  }

  @Test
  void answersWhatWaitsTooLongAsNotSentAndWhatIsUnderwayAsUnknown() {
    try (RequestBatcher<TestRequest> post =
        batcher(1, 1, 100, Duration.ofMillis(50), Duration.ofMillis(150))) {
      TestRequest underway =
          eventually().until(() -> offeredUntil(post, this::isCarriedOrNotSent), carried::contains);
      TestRequest waiting = offered(post, 0);

      eventually().until(() -> waiting.failure == PendingRequest.Failure.NOT_SENT);
      eventually().until(() -> underway.failure == PendingRequest.Failure.UNKNOWN);
      gate.countDown();
      eventually()
          .until(
              () -> offeredUntil(post, next -> next.delivered || next.failure != null),
              next -> next.delivered);
      assertThat(underway.delivered).as("a late answer changes nothing").isFalse();
      assertThat(carried)
          .as("a request answered as not sent is never sent")
          .noneMatch(request -> request.failure == PendingRequest.Failure.NOT_SENT)
          .doesNotContain(waiting);
    }
  }

  /** On a slow machine a thread may begin after the wait allowed. */
  private boolean isCarriedOrNotSent(TestRequest request) {
    return carried.contains(request) || request.failure == PendingRequest.Failure.NOT_SENT;
  }

  private static TestRequest offeredUntil(
      RequestBatcher<TestRequest> post, Predicate<TestRequest> condition) {
    TestRequest request = offered(post, 0);
    eventually().until(() -> condition.test(request));
    return request;
  }

  @Test
  void wakesNoThreadWhileThereIsNoRequest() {
    gate.countDown();
    try (RequestBatcher<TestRequest> post = batcher(2, 1, 100, LONG, LONG)) {
      TestRequest request = offered(post, 0);
      eventually().until(() -> request.delivered);

      eventually()
          .untilAsserted(
              () ->
                  assertThat(threads())
                      .hasSize(3)
                      .allMatch(thread -> thread.getState() == Thread.State.WAITING));
    }
  }

  private static List<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("test-"))
        .toList();
  }

  @Test
  void failsWhatACarrierLeavesOpenAndGoesOn() {
    gate.countDown();
    AtomicInteger calls = new AtomicInteger();
    try (RequestBatcher<TestRequest> post =
        new RequestBatcher<>(
            "test",
            new RequestBatcherProperties(1, 1, 64, 100, LONG, LONG),
            false,
            requests -> {
              switch (calls.getAndIncrement()) {
                case 0 -> throw new IllegalStateException("for the test");
                case 1 -> throw new StackOverflowError("for the test");
                default -> requests.forEach(TestRequest::deliver);
              }
            })) {
      TestRequest first = offered(post, 0);
      eventually().until(() -> first.failure == PendingRequest.Failure.UNKNOWN);
      TestRequest second = offered(post, 0);
      eventually().until(() -> second.failure == PendingRequest.Failure.UNKNOWN);
      TestRequest third = offered(post, 0);
      eventually().until(() -> third.delivered);
    }
  }

  /** Partitions 3 and 4 are on a server that breaks off its first calls, and answers no other. */
  @Test
  void servesTheOtherPartitionsWhileTwoWaitForAServerThatDoesNotAnswer() {
    Map<Integer, CountDownLatch> first = Map.of(3, new CountDownLatch(1), 4, new CountDownLatch(1));
    try (RequestBatcher<TestRequest> post =
        new RequestBatcher<>(
            "test",
            new RequestBatcherProperties(2, 2, 64, 100, LONG, LONG),
            true,
            requests -> {
              int partition = requests.get(0).partition();
              boolean isFirst = !batches.contains(partition);
              batches.add(partition);
              if (first.containsKey(partition)) {
                Bounded.await(isFirst ? first.get(partition) : gate);
                throw new JedisConnectionException("for the test");
              }
              requests.forEach(TestRequest::deliver);
            })) {
      offered(post, 3);
      offered(post, 4);
      eventually().until(() -> batches.size() == 2);
      offered(post, 3);
      offered(post, 4);
      first.get(3).countDown();
      eventually().until(() -> batches.size() == 3);
      first.get(4).countDown();

      TestRequest other = offered(post, 0);
      eventually().until(() -> other.delivered);
      assertThat(batches).as("one call at a time").containsExactlyInAnyOrder(3, 4, 3, 0);
      gate.countDown(); // or its end waits for the calls
    } finally {
      gate.countDown();
    }
  }

  @Test
  void carriesWhatItTookBeforeItStops() {
    RequestBatcher<TestRequest> post = batcher(2, 2, 1_000, LONG, LONG);
    List<TestRequest> requests = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      requests.add(offered(post, i % 16));
    }
    gate.countDown();
    long start = System.nanoTime();
    post.close();

    if (System.nanoTime() - start < Duration.ofSeconds(2).toNanos()) { // it waits no longer
      assertThat(requests).allMatch(request -> request.delivered);
    }
    eventually().until(() -> requests.stream().allMatch(request -> request.delivered));
    assertThat(offered(post, 0).failure).isEqualTo(PendingRequest.Failure.NOT_SENT);
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

  private RequestBatcher<TestRequest> batcher(
      int threads, int perPartition, int capacity, Duration queueWait, Duration answerWithin) {
    return new RequestBatcher<>(
        "test",
        new RequestBatcherProperties(threads, perPartition, 64, capacity, queueWait, answerWithin),
        true,
        this::execute);
  }

  private void execute(List<TestRequest> requests) {
    most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    carried.addAll(requests);
    partitions.add(requests.stream().map(TestRequest::partition).collect(Collectors.toSet()));
    batches.add(requests.size()); // the last: tests wait for it
    Bounded.await(gate);
    requests.forEach(TestRequest::deliver);
    atOnce.decrementAndGet();
  }

  private static TestRequest offered(RequestBatcher<TestRequest> post, int partition) {
    TestRequest request = new TestRequest(partition);
    post.submit(request);
    return request;
  }

  private static final class TestRequest extends PendingRequest {
    private final int partition;
    private final AtomicBoolean settled = new AtomicBoolean();
    private volatile boolean delivered;
    private volatile @Nullable Failure failure;

    TestRequest(int partition) {
      this.partition = partition;
    }

    @Override
    protected int partition() {
      return partition;
    }

    void deliver() {
      if (settled.compareAndSet(false, true)) {
        delivered = true;
      }
    }

    @Override
    public void fail(Failure why) {
      if (settled.compareAndSet(false, true)) {
        failure = why;
      }
    }
  }
}
