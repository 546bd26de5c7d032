package io.seckill.gateway.orders;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.web.StreamPlaces;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Watches orders for clients with an open event stream. Queued orders are read every period, others
 * every eighth: a shopper may leave an order unpaid for half an hour. These reads share calls to
 * Redis with the other status reads, 64 to a call. They never take more than a quarter of the space
 * in a partition's read queue, so that polling clients find room. A slow client gets the latest
 * state only. The number of streams is bounded, in all and per user, and all streams end when the
 * gateway stops.
 */
@Component
final class OrderEvents {

  private static final ThrottledLog failures =
      new ThrottledLog(LoggerFactory.getLogger(OrderEvents.class));
  private static final Duration LONGEST = Duration.ofHours(1);

  /**
   * Sixteen full batches: enough to keep Redis busy, and a bound on the orders that wait for MySQL.
   */
  private static final int MOST_READS_AT_ONCE = 1_024;

  /** Open streams of one user: a few tabs and devices. */
  static final int MAX_STREAMS_PER_USER = 5;

  /** How often queued orders are read: a shopper does not notice the delay. */
  private static final Duration PERIOD = Duration.ofMillis(250);

  /**
   * Two seconds. The shopper's own payment and cancel have an answer of their own; else the end of
   * the payment time or an operator changes such an order.
   */
  private static final int PERIODS_WITH_RESULT = 8;

  private final OrderStatuses statuses;
  private final StreamPlaces places;
  private final Map<OrderId, Watched> watched = new ConcurrentHashMap<>();
  private final Sinks.Empty<Void> stopped = Sinks.empty();
  private final Disposable polling;

  OrderEvents(OrderStatuses statuses, OrderProperties settings, MeterRegistry meters) {
    this.statuses = statuses;
    this.places = new StreamPlaces("open streams", settings.maxStreams(), MAX_STREAMS_PER_USER);
    Gauge.builder("seckill.order.streams", places, StreamPlaces::taken)
        .description("Event streams of orders that are open")
        .register(meters);
    this.polling =
        Flux.interval(PERIOD)
            .onBackpressureDrop()
            .concatMapIterable(tick -> watched.values(), 1)
            .filter(Watched::beginRead)
            .flatMap(
                this::read, Math.max(1, Math.min(settings.queueCapacity() / 4, MOST_READS_AT_ONCE)))
            .subscribe();
  }

  /** One order and the streams that watch it. */
  private static final class Watched {
    private final OrderId id;
    private final long userId;
    private final Set<FluxSink<OrderView>> sinks = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean reading = new AtomicBoolean();
    private volatile OrderStatus status;

    /** Since the last read began; only the polling uses it. */
    private int periods;

    Watched(OrderId id, long userId, OrderStatus status) {
      this.id = id;
      this.userId = userId;
      this.status = status;
    }

    /** Returns false before the next read is due, and while an earlier one has not ended. */
    boolean beginRead() {
      periods++;
      boolean isDue = status == OrderStatus.QUEUED || periods >= PERIODS_WITH_RESULT;
      if (!isDue || !reading.compareAndSet(false, true)) {
        return false;
      }
      periods = 0;
      return true;
    }

    void endRead() {
      reading.set(false);
    }

    void show(OrderStatuses.Status read) {
      if (read instanceof OrderStatuses.Status.Known known) {
        status = known.order().status();
        sinks.forEach(sink -> sink.next(known.order())); // each stream drops a repeated state
        if (status.isFinal()) {
          sinks.forEach(FluxSink::complete);
        }
      } else if (read == OrderStatuses.Status.None.NOT_FOUND) {
        // The sale's data is no longer in Redis, and MySQL never had the order.
        sinks.forEach(FluxSink::complete);
      }
    }
  }

  /**
   * Emits the order's current state and every change until it is final; the caller has checked the
   * owner.
   *
   * @throws ProblemException when subscribed: 429 for too many streams of this user, 503 BUSY for
   *     too many in all
   */
  Flux<OrderView> watch(OrderView now, OrderId asked, long userId) {
    if (now.status().isFinal()) {
      return Flux.just(now);
    }
    return places.within(userId, () -> changes(now, asked, userId));
  }

  private Flux<OrderView> changes(OrderView now, OrderId id, long userId) {
    return Flux.<OrderView>create(
            sink -> register(sink, id, userId, now.status()), FluxSink.OverflowStrategy.LATEST)
        .startWith(now)
        .distinctUntilChanged()
        .take(LONGEST)
        .takeUntilOther(stopped.asMono());
  }

  private void register(FluxSink<OrderView> sink, OrderId id, long userId, OrderStatus status) {
    watched.compute(
        id,
        (key, existing) -> {
          Watched one = existing == null ? new Watched(id, userId, status) : existing;
          one.sinks.add(sink);
          return one;
        });
    sink.onDispose(() -> unregister(sink, id));
  }

  private void unregister(FluxSink<OrderView> sink, OrderId id) {
    watched.computeIfPresent(
        id,
        (key, one) -> {
          one.sinks.remove(sink);
          return one.sinks.isEmpty() ? null : one;
        });
  }

  /** Never fails: a failure would end the polling. */
  private Mono<OrderStatuses.Status> read(Watched one) {
    return Mono.defer(() -> Mono.fromFuture(statuses.of(one.id, one.userId)))
        .doOnNext(one::show)
        .onErrorResume(
            failure -> {
              failures.warn("a watched order was not read", failure);
              return Mono.empty();
            })
        .doFinally(signal -> one.endRead());
  }

  /** Runs before the servers begin to wait for active requests: open streams would delay them. */
  @EventListener(ContextClosedEvent.class)
  void stop() {
    polling.dispose();
    stopped.tryEmitEmpty();
  }
}
