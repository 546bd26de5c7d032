package io.seckill.gateway.batching;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets order-consumer decide a batch of requests with one call. Without an answer that can be
 * trusted as a whole, the outcome of every request of the batch is unknown. Thread-safe.
 *
 * @param <T> type of request
 * @param <R> type of outcome
 */
public final class BatchCall<T, R> implements RequestBatcher.Executor<T> {

  private static final Logger log = LoggerFactory.getLogger(BatchCall.class);

  private final String requests;
  private final Function<List<T>, List<R>> call;
  private final BiConsumer<T, R> answer;
  private final AtomicBoolean failing = new AtomicBoolean();

  /**
   * @param requests their name in the log
   * @param call returns the outcomes, in the order of the requests; after an exception they are
   *     unknown
   * @param answer gives a request its outcome
   */
  public BatchCall(String requests, Function<List<T>, List<R>> call, BiConsumer<T, R> answer) {
    this.requests = requests;
    this.call = call;
    this.answer = answer;
  }

  @Override
  public void execute(List<T> batch) {
    List<R> outcomes;
    try {
      outcomes = call.apply(batch);
      if (outcomes.size() != batch.size()) {
        throw new IllegalArgumentException(
            "not " + batch.size() + " outcomes but " + outcomes.size());
      }
    } catch (RuntimeException e) {
      if (!failing.getAndSet(true)) {
        log.warn("order-consumer decides no {}: {}", requests, e.toString());
      }
      return;
    }
    if (failing.getAndSet(false)) {
      log.info("order-consumer decides {} again", requests);
    }
    Iterator<R> next = outcomes.iterator();
    batch.forEach(request -> answer.accept(request, next.next()));
  }
}
