package io.seckill.gateway.batching;

import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Iterator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.slf4j.LoggerFactory;

/**
 * Lets order-consumer decide a batch of requests with one call. Without an answer that can be
 * trusted as a whole, the outcome of every request of the batch is unknown; when order-consumer is
 * busy, none was carried out. Thread-safe.
 *
 * @param <T> type of request
 * @param <R> type of outcome
 */
public final class BatchCall<T extends PendingRequest, R> implements RequestBatcher.Executor<T> {

  private final String requests;
  private final Function<List<T>, List<R>> call;
  private final BiConsumer<T, R> answer;
  private final ThrottledLog failures = new ThrottledLog(LoggerFactory.getLogger(BatchCall.class));

  /**
   * @param requests their name in the log
   * @param call returns the outcomes, in the order of the requests; after an exception other than
   *     503 BUSY they are unknown
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
      if (e instanceof ProblemException refused && refused.problem().code() == ProblemCode.BUSY) {
        batch.forEach(request -> request.fail(PendingRequest.Failure.NOT_SENT));
      } else {
        failures.warn("a batch of " + requests + " has no answer", e);
      }
      return;
    }
    Iterator<R> next = outcomes.iterator();
    batch.forEach(request -> answer.accept(request, next.next()));
  }
}
