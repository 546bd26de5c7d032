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
record CompensationSweep(
    CompensationTable table,
    Compensations compensations,
    OrderResults results,
    RedisCallGuard redis,
    Pace pace) {

  /** The time left to the first delivery, right after COMMIT, before the sweep delivers. */
  private static final int MIN_AGE_SECONDS = 1;

  /** Rows read at once; bounds the memory that a backlog needs. */
  private static final int PAGE = 500;

  /** Units that a crash or an outage left behind can be bought again this soon. */
  private static final Duration PAUSE = Duration.ofSeconds(2);

  @Bean
  Sweeper compensationSweeper() {
    return new Sweeper("compensation-sweep", PAUSE, this::sweep);
  }

  /**
   * Delivers everything pending, page by page. A part of Redis that does not answer is left out for
   * the rest of the round, and the round ends when no part is left.
   */
  void sweep() {
    Set<Integer> unavailable = new HashSet<>();
    long after = 0;
    List<Compensation> page;
    do {
      long from = after;
      page = pace.step(() -> deliverAfter(from, unavailable));
      after = page.isEmpty() ? after : page.get(page.size() - 1).orderId().value();
    } while (page.size() == PAGE
        && unavailable.size() < redis.parts()
        && !Thread.currentThread().isInterrupted());
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
