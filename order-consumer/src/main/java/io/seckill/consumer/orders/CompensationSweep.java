package io.seckill.consumer.orders;

import java.util.List;
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

  private final CompensationTable table;
  private final Compensations compensations;
  private final OrderResults results;

  CompensationSweep(CompensationTable table, Compensations compensations, OrderResults results) {
    this.table = table;
    this.compensations = compensations;
    this.results = results;
  }

  /** Delivers everything pending, page by page; skips a page that cannot be delivered. */
  void sweep() {
    long after = 0;
    List<Compensation> page;
    do {
      page = table.pending(after, MIN_AGE_SECONDS, PAGE);
      if (results.write(table.results(page))) {
        compensations.deliver(page);
      }
      after = page.isEmpty() ? after : page.get(page.size() - 1).orderId().value();
    } while (page.size() == PAGE && !Thread.currentThread().isInterrupted());
  }
}
