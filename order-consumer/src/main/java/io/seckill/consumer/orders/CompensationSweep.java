package io.seckill.consumer.orders;

import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

/**
 * Delivers compensations that Redis has not confirmed: after a crash, and after Redis was
 * unavailable. The order result that freed the units is written first, because it may have been
 * lost as well. Runs on one thread; a second process may sweep the same rows, since Redis applies
 * each compensation once.
 */
@Component
class CompensationSweep {

  /** The time left to the first delivery, right after COMMIT, before the sweep delivers. */
  private static final int MIN_AGE_SECONDS = 1;

  /** Rows read at once; bounds the memory that a backlog needs. */
  private static final int PAGE = 500;

  /** In a round while a part of Redis is unavailable: its rows stay, and are read again. */
  private static final int MOST_PAGES = 20;

  /** Units that a crash or an outage left behind can be bought again this soon. */
  private static final Duration PAUSE = Duration.ofSeconds(2);

  private final CompensationTable table;
  private final Compensations compensations;
  private final OrderResults results;
  private final RedisCallGuard redis;
  private final Pace pace;

  /** The order after which the next round begins; 0 for the oldest. */
  private long last;

  CompensationSweep(
      CompensationTable table,
      Compensations compensations,
      OrderResults results,
      RedisCallGuard redis,
      Pace pace) {
    this.table = table;
    this.compensations = compensations;
    this.results = results;
    this.redis = redis;
    this.pace = pace;
  }

  @Bean
  Sweeper compensationSweeper() {
    return new Sweeper("compensation-sweep", PAUSE, this::sweep);
  }

  /**
   * One round of the sweeper, for its thread alone: delivers everything pending, page by page. A
   * part of Redis that does not answer is left out for the rest of the round, which then has {@link
   * #MOST_PAGES} at most, and the next one continues there. The round ends when no part is left.
   */
  void sweep() {
    Set<Integer> unavailable = new HashSet<>();
    long after = last;
    last = 0; // where the next round begins after a failure
    int pages = 0;
    do {
      long from = after;
      List<Compensation> page = pace.step(() -> deliverAfter(from, unavailable));
      after = page.size() == PAGE ? page.get(PAGE - 1).orderId().value() : 0;
      pages++;
    } while (after > 0
        && (unavailable.isEmpty() || pages < MOST_PAGES)
        && unavailable.size() < redis.parts()
        && !Thread.currentThread().isInterrupted());
    last = after;
  }

  private List<Compensation> deliverAfter(long orderId, Set<Integer> unavailable) {
    List<Compensation> page = table.pending(orderId, MIN_AGE_SECONDS, PAGE);
    deliver(page, unavailable);
    return page;
  }

  private void deliver(List<Compensation> page, Set<Integer> unavailable) {
    Map<Integer, List<Compensation>> byPart =
        page.stream()
            .filter(one -> !unavailable.contains(redis.partOf(one.skuId())))
            .collect(Collectors.groupingBy(one -> redis.partOf(one.skuId())));
    byPart.forEach(
        (part, some) -> {
          if (!results.write(table.results(some)) || !compensations.deliver(some)) {
            unavailable.add(part);
          }
        });
  }
}
