package io.seckill.gateway.ops;

import io.seckill.gateway.web.StreamPlaces;
import io.seckill.support.logging.ThrottledLog;
import java.time.Duration;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.json.JsonMapper;

/**
 * One shared stream of snapshots for any number of viewers: it begins with the first viewer, ends
 * with the last, and never runs two reads at once. Slow viewers miss snapshots. All streams end
 * when the gateway stops.
 */
@Component
final class OpsEvents {

  private static final ThrottledLog failures =
      new ThrottledLog(LoggerFactory.getLogger(OpsEvents.class));

  /** Between two snapshots; each costs statements and calls, however few the viewers. */
  private static final Duration PERIOD = Duration.ofSeconds(2);

  private static final Duration LONGEST = Duration.ofHours(1);
  private static final JsonMapper JSON = JsonMapper.shared();

  /** Streams at once, a connection each: more than there are operators. */
  static final int MAX_VIEWERS = 50;

  /** Operators have no number, and so no bound each. */
  private static final long EVERYBODY = 0;

  private final StreamPlaces places =
      new StreamPlaces("operators are watching", MAX_VIEWERS, Integer.MAX_VALUE);
  private final Flux<String> snapshots;
  private final Sinks.Empty<Void> stopped = Sinks.empty();

  OpsEvents(SnapshotReader reader) {
    this.snapshots =
        Flux.interval(Duration.ZERO, PERIOD)
            .onBackpressureDrop()
            .concatMap(tick -> json(reader), 1)
            .replay(1)
            .refCount(1);
  }

  /**
   * Snapshots in JSON, the first within about three seconds, for at most an hour.
   *
   * @return fails with 503 BUSY when there are too many viewers already
   */
  Flux<String> watch() {
    return places.within(
        EVERYBODY,
        () -> snapshots.onBackpressureLatest().take(LONGEST).takeUntilOther(stopped.asMono()));
  }

  private static Mono<String> json(SnapshotReader reader) {
    return reader
        .read()
        .map(JSON::writeValueAsString)
        .onErrorResume(
            failure -> {
              failures.warn("no snapshot for the operations page", failure);
              return Mono.empty();
            });
  }

  /** Runs before the servers begin to wait for active requests: open streams would delay them. */
  @EventListener(ContextClosedEvent.class)
  void endStreams() {
    stopped.tryEmitEmpty();
  }
}
