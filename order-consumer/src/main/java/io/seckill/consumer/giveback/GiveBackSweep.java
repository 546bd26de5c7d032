package io.seckill.consumer.giveback;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.results.OrderResult;
import io.seckill.consumer.results.OrderResults;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * Delivers what was owed to Redis and not confirmed: after a crash, and after Redis was away. The
 * result that made the units free goes before them, for it may have been lost as well. One thread;
 * a second process may sweep the same rows, Redis takes each once.
 */
@Component
class GiveBackSweep implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(GiveBackSweep.class);

  /** The first delivery, right after COMMIT, gets this long before the sweep steps in. */
  private static final int MIN_AGE_SECONDS = 1;

  private final JdbcTemplate jdbc;
  private final GiveBacks giveBacks;
  private final OrderResults results;
  private final GiveBackProperties settings;
  private volatile long pending;
  private volatile @Nullable ScheduledExecutorService sweeper;

  GiveBackSweep(
      DataSource dataSource,
      GiveBacks giveBacks,
      OrderResults results,
      GiveBackProperties settings,
      MeterRegistry meters) {
    this.jdbc = new JdbcTemplate(dataSource);
    this.giveBacks = giveBacks;
    this.results = results;
    this.settings = settings;
    Gauge.builder("seckill.consumer.givebacks.pending", this, sweep -> sweep.pending)
        .description("Give-backs Redis has not confirmed, at the last sweep")
        .register(meters);
  }

  @Override
  public void start() {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(work -> new Thread(work, "give-back-sweep"));
    long everyMs = settings.sweepInterval().toMillis();
    sweeper = started;
    var unused =
        started.scheduleWithFixedDelay(this::sweepSafely, everyMs, everyMs, TimeUnit.MILLISECONDS);
  }

  private void sweepSafely() {
    try {
      sweep();
    } catch (DataAccessException e) {
      log.warn("Cannot sweep give-backs now: {}", e.toString());
    } catch (RuntimeException e) {
      log.error("A sweep of give-backs failed", e);
    }
  }

  /** Delivers everything pending, page by page; a page that cannot be delivered is left behind. */
  void sweep() {
    long after = 0;
    List<GiveBack> page;
    do {
      page = page(after);
      if (results.write(resultsOf(page))) {
        giveBacks.deliver(page);
      }
      after = page.isEmpty() ? after : page.get(page.size() - 1).orderId().value();
    } while (page.size() == settings.sweepPage() && !Thread.currentThread().isInterrupted());
    pending = query(GiveBackTable::countPending);
  }

  private List<OrderResult> resultsOf(List<GiveBack> page) {
    return query(connection -> OwedResults.of(connection, page));
  }

  private List<GiveBack> page(long after) {
    return query(
        connection ->
            GiveBackTable.pending(connection, after, MIN_AGE_SECONDS, settings.sweepPage()));
  }

  private <T> T query(ConnectionCallback<T> query) {
    T found = jdbc.execute(query);
    if (found == null) {
      throw new IllegalStateException("a query of give-backs answers");
    }
    return found;
  }

  @Override
  public void stop() {
    ExecutorService stopping = sweeper;
    if (stopping == null) {
      return;
    }
    stopping.shutdownNow();
    try {
      if (!stopping.awaitTermination(10, TimeUnit.SECONDS)) {
        log.warn("The give-back sweep did not stop in time");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sweeper = null;
  }

  @Override
  public boolean isRunning() {
    return sweeper != null;
  }
}
