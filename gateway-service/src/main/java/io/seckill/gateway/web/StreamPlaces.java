package io.seckill.gateway.web;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/**
 * Bounds the streams of a kind that are open at once, in all and per user; a call that waits is
 * one, too. Thread-safe.
 */
public final class StreamPlaces {

  private final String kind;
  private final int most;
  private final int mostPerUser;
  private final AtomicInteger taken = new AtomicInteger();
  private final Map<Long, Integer> takenByUser = new ConcurrentHashMap<>();

  /** {@code kind} names the streams in problems. */
  public StreamPlaces(String kind, int most, int mostPerUser) {
    this.kind = kind;
    this.most = most;
    this.mostPerUser = mostPerUser;
  }

  /**
   * The stream, which keeps a place until it ends.
   *
   * @throws ProblemException when subscribed: 429 for too many streams of this user, 503 BUSY for
   *     too many in all
   */
  public <T> Flux<T> within(long userId, Supplier<? extends Publisher<T>> stream) {
    return Flux.defer(
        () -> {
          ProblemException refusal = take(userId);
          return refusal == null
              ? Flux.defer(stream).doFinally(signal -> giveBack(userId))
              : Flux.error(refusal);
        });
  }

  private @Nullable ProblemException take(long userId) {
    if (taken.incrementAndGet() > most) {
      taken.decrementAndGet();
      return ProblemException.of(ProblemCode.BUSY, "Too many " + kind + ".");
    }
    if (takenByUser.merge(userId, 1, Integer::sum) > mostPerUser) {
      giveBack(userId);
      return ProblemException.of(ProblemCode.TOO_MANY_REQUESTS, "Too many " + kind + " of yours.");
    }
    return null;
  }

  private void giveBack(long userId) {
    taken.decrementAndGet();
    takenByUser.computeIfPresent(userId, (user, n) -> n == 1 ? null : n - 1);
  }

  public int taken() {
    return taken.get();
  }
}
