package io.seckill.consumer.runtime;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;

class CallerBatcherTest {

  private static final int FIRST = -1;
  private static final int BAD = 13;
  private static final int CAPACITY = 5;

  private final ExecutorService callers = Executors.newCachedThreadPool();
  private final List<Set<Integer>> batches = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Void> firstMayEnd = new CompletableFuture<>();

  @AfterEach
  void stop() {
    callers.shutdownNow();
  }

  @Test
  void anIdleBatcherExecutesARequestAtOnceOnItsOwnThread() {
    CallerBatcher<Integer, String> batcher =
        new CallerBatcher<>(
            CAPACITY,
            requests -> {
              batches.add(requests);
              return Map.of(7, Thread.currentThread().getName());
            });

    assertThat(batcher.submit(7)).isEqualTo(Thread.currentThread().getName());
    assertThat(batcher.submit(7)).isEqualTo(Thread.currentThread().getName());
    assertThat(batches).containsExactly(Set.of(7), Set.of(7));
  }

  @Test
  void requestsThatArriveDuringABatchFormTheNextAndEqualOnesAreExecutedOnce() throws Exception {
    CallerBatcher<Integer, String> batcher = new CallerBatcher<>(CAPACITY, this::execute);
    List<Future<String>> answers = duringTheFirst(batcher, List.of(1, 2, 3, 3));

    firstMayEnd.complete(null);

    assertThat(valuesOf(answers)).containsExactly("-1", "1", "2", "3", "3");
    assertThat(batches).containsExactly(Set.of(FIRST), Set.of(1, 2, 3));
  }

  @Test
  void aListIsExecutedInOneBatchAndMayLackAnswers() throws Exception {
    CallerBatcher<Integer, String> batcher =
        new CallerBatcher<>(
            CAPACITY,
            requests -> {
              Map<Integer, String> answers = executeUnlessBad(requests);
              answers.remove(3);
              return answers;
            });
    List<Future<String>> answers = duringTheFirst(batcher, List.of(1));
    Future<Map<Integer, String>> list =
        callers.submit(() -> batcher.submitAll(List.of(2, 3, 2, 1)));
    eventually().until(() -> batcher.depth() == CAPACITY);
    assertThatThrownBy(() -> batcher.submitAll(List.of(9))).hasMessageStartingWith("BUSY");

    firstMayEnd.complete(null);

    assertThat(valuesOf(answers)).containsExactly("-1", "1");
    assertThat(Bounded.get(list)).containsOnlyKeys(1, 2).containsEntry(2, "2");
    assertThat(batches).containsExactly(Set.of(FIRST), Set.of(1, 2, 3));
    assertThat(batcher.submitAll(List.of(1, BAD))).isEmpty();
    assertThat(batches).hasSize(3);
  }

  @Test
  void aFullQueueRefusesAtOnceAndForgetsNobody() throws Exception {
    CallerBatcher<Integer, String> batcher = new CallerBatcher<>(CAPACITY, this::execute);
    List<Integer> full = IntStream.range(100, 100 + CAPACITY).boxed().toList();
    List<Future<String>> answers = duringTheFirst(batcher, full);

    assertThatThrownBy(() -> batcher.submit(1))
        .isInstanceOf(ProblemException.class)
        .hasMessageStartingWith("BUSY");

    firstMayEnd.complete(null);
    assertThat(valuesOf(answers)).hasSize(full.size() + 1);
    assertThat(batches).hasSize(2);
    assertThat(batcher.submit(1)).isEqualTo("1");
  }

  @Test
  void aRequestThatFailsItsBatchFailsNoOther() throws Exception {
    CallerBatcher<Integer, String> batcher = new CallerBatcher<>(CAPACITY, this::executeUnlessBad);
    List<Future<String>> answers = duringTheFirst(batcher, List.of(1, BAD, 2));

    firstMayEnd.complete(null);

    assertThat(answers.get(1).get()).isEqualTo("1");
    assertThatThrownBy(() -> answers.get(2).get())
        .hasCauseInstanceOf(DataIntegrityViolationException.class);
    assertThat(answers.get(3).get()).isEqualTo("2");
    assertThat(batches)
        .containsExactlyInAnyOrder(
            Set.of(FIRST), Set.of(1, BAD, 2), Set.of(1), Set.of(BAD), Set.of(2));
  }

  @Test
  void aRequestThatItsBatchLeftOutIsExecutedAlone() throws Exception {
    CallerBatcher<Integer, String> batcher =
        new CallerBatcher<>(
            CAPACITY,
            requests -> {
              Map<Integer, String> answers = execute(requests);
              if (requests.size() > 1) {
                answers.remove(2);
              }
              return answers;
            });
    List<Future<String>> answers = duringTheFirst(batcher, List.of(1, 2));

    firstMayEnd.complete(null);

    assertThat(valuesOf(answers)).containsExactly("-1", "1", "2");
    assertThat(batches).containsExactly(Set.of(FIRST), Set.of(1, 2), Set.of(2));
  }

  @Test
  void aBatchThatMySqlFailedIsNotExecutedAgain() throws Exception {
    CallerBatcher<Integer, String> batcher =
        new CallerBatcher<>(
            CAPACITY,
            requests -> {
              Map<Integer, String> answers = execute(requests);
              if (requests.contains(2)) {
                throw new DataAccessResourceFailureException(
                    "gone", new SQLException("link failure", "08S01"));
              }
              return answers;
            });
    List<Future<String>> answers = duringTheFirst(batcher, List.of(1, 2));

    firstMayEnd.complete(null);

    for (Future<String> answer : answers.subList(1, 3)) {
      assertThatThrownBy(answer::get).hasCauseInstanceOf(DataAccessResourceFailureException.class);
    }
    assertThat(batches).containsExactly(Set.of(FIRST), Set.of(1, 2));
    assertThat(batcher.submit(1)).isEqualTo("1");
  }

  /** Keeps the first batch in progress until the test ends it. */
  private Map<Integer, String> execute(Set<Integer> requests) {
    batches.add(Set.copyOf(requests));
    if (requests.contains(FIRST)) {
      Bounded.get(firstMayEnd);
    }
    return requests.stream().collect(Collectors.toMap(r -> r, Object::toString));
  }

  private Map<Integer, String> executeUnlessBad(Set<Integer> requests) {
    Map<Integer, String> answers = execute(requests);
    if (requests.contains(BAD)) {
      throw new DataIntegrityViolationException(
          "bad", new SQLIntegrityConstraintViolationException("bad", "23000", 1048));
    }
    return answers;
  }

  /** Submits the requests, in this order, while a first one is executed. */
  private List<Future<String>> duringTheFirst(
      CallerBatcher<Integer, String> batcher, List<Integer> requests) {
    List<Future<String>> answers = new ArrayList<>();
    answers.add(callers.submit(() -> batcher.submit(FIRST)));
    eventually().until(() -> !batches.isEmpty());
    for (Integer request : requests) {
      answers.add(callers.submit(() -> batcher.submit(request)));
    }
    eventually().until(() -> batcher.depth() == requests.size());
    return answers;
  }

  private static List<String> valuesOf(List<Future<String>> answers) {
    List<String> values = new ArrayList<>();
    for (Future<String> answer : answers) {
      values.add(Bounded.get(answer));
    }
    return values;
  }
}
