package io.seckill.consumer.reconciliation;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.reconciliation.Reconciler.Order;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.Leadership;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.web.ProblemException;
import jakarta.annotation.PreDestroy;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Checks all sales periodically, in one of several processes: reads the state of each, and compares
 * those that stopped changing since the last comparison, or are due. A comparison may take an hour:
 * meanwhile another thread reads the states, and rebuilds the sales that are lost.
 */
@Component
class Schedule {

  /** Starter of the runs that no operator requested. */
  static final String NAME = "schedule";

  private static final Logger log = LoggerFactory.getLogger(Schedule.class);

  /** Sales that Redis must still have: nothing older can be compared. */
  private static final String SALES =
      ProductRows.SELECT
          + " WHERE p.state <> 'NEW' AND p."
          + SalePhase.REDIS_DECIDES
          + " AND p.closes_at > UTC_TIMESTAMP() - INTERVAL 31 DAY" // for the index
          + " AND p.closes_at > UTC_TIMESTAMP() - INTERVAL p.retention_s SECOND";

  private final Leadership leadership;
  private final JdbcClient jdbc;
  private final RedisSale redis;
  private final Reconciler reconciler;
  private final ReconciliationProperties settings;
  private final Pace pace;
  private final RedisCallGuard guard;
  private final Map<Long, LastCheck> checks = new ConcurrentHashMap<>();
  private final Map<Long, String> failures = new ConcurrentHashMap<>();
  private final PreheatsUnderWay preheats = new PreheatsUnderWay(System::nanoTime);

  /** The sales that Redis had when all were last looked at. */
  private volatile Set<Long> whole = Set.of();

  /** Those that it had lost then, and that wait for a rebuild. */
  private volatile Set<Long> lost = Set.of();

  /**
   * Parts of Redis that have not answered a read of a state since the last look began; each takes a
   * time-out. A comparison or a rebuild may time out because of its own sale.
   */
  private final Set<Integer> silent = ConcurrentHashMap.newKeySet();

  private volatile boolean leading;

  /** When all were last looked at, by System.nanoTime. */
  private volatile long lookedNanos;

  Schedule(
      ConnectionPools pools,
      JdbcClient jdbc,
      RedisSale redis,
      Reconciler reconciler,
      ReconciliationProperties settings,
      Pace pace,
      RedisCallGuard guard,
      MeterRegistry meters) {
    this.leadership =
        new Leadership(pools.reconciliation(), "reconcile-all", settings.lockSilence());
    this.jdbc = jdbc;
    this.redis = redis;
    this.reconciler = reconciler;
    this.settings = settings;
    this.pace = pace;
    this.guard = guard;
    Gauge.builder("seckill.consumer.sales.lost", this, schedule -> schedule.lost.size())
        .description("Sales that Redis has lost and that wait for a rebuild, at the last look")
        .register(meters);
    Gauge.builder("seckill.consumer.reconciliation.leader", this, s -> s.leading ? 1 : 0)
        .description("1 in the process that looks at all sales")
        .register(meters);
  }

  @Bean
  Sweeper reconciliationSweeper(ReconciliationProperties properties) {
    return new Sweeper(
        "reconciliation",
        () -> leading ? properties.interval() : properties.untilLeading(),
        this::round);
  }

  @Bean
  Sweeper lostSaleSweeper(ReconciliationProperties properties) {
    return new Sweeper("lost-sales", properties.interval(), this::lookMeanwhile);
  }

  /** Looks at all sales when a comparison has kept {@link #round} from it for too long. */
  void lookMeanwhile() {
    if (leadership.isHeld() && System.nanoTime() - lookedNanos >= settings.interval().toNanos()) {
      look();
    }
  }

  /** Checks all sales once; does nothing when another process leads. */
  void round() {
    leading = leads();
    if (leading) {
      checkSales();
      leading = leadership.isHeld();
    }
    if (!leading) {
      checks.clear();
      failures.clear();
      lost = Set.of();
    }
  }

  private void checkSales() {
    List<ProductSnapshot> sales = look();
    StatesAhead states = new StatesAhead(redis, sales, guard.parts() == 1);
    for (ProductSnapshot sale : sales) {
      if (!mayGoOn()) {
        return;
      }
      if (whole.contains(sale.skuId())) {
        var unused = read(sale, states).flatMap(seen -> attempt(sale, () -> compared(sale, seen)));
      }
    }
    Set<Long> skus = sales.stream().map(ProductSnapshot::skuId).collect(Collectors.toSet());
    checks.keySet().retainAll(skus);
    failures.keySet().retainAll(skus);
    preheats.retain(skus);
  }

  private boolean mayGoOn() {
    return !Thread.currentThread().isInterrupted() && leadership.isHeldLately();
  }

  private boolean leads() {
    try {
      return leadership.isHeld() || leadership.take();
    } catch (DataAccessException e) {
      log.warn("No reconciliation now, MySQL is unavailable: {}", e.toString());
      return false;
    }
  }

  /** Reads the state of each sale, rebuilds what is lost, and completes what operators changed. */
  synchronized List<ProductSnapshot> look() {
    List<ProductSnapshot> sales = jdbc.sql(SALES).query((row, n) -> ProductRows.read(row)).list();
    Set<Long> wholeNow = new HashSet<>();
    Set<Long> lostNow = new HashSet<>();
    silent.clear();
    StatesAhead states = new StatesAhead(redis, sales, guard.parts() == 1);
    for (ProductSnapshot sale : sales) {
      if (!mayGoOn()) {
        return sales;
      }
      if (staysLost(sale, states, wholeNow)) {
        lostNow.add(sale.skuId());
      }
    }
    whole = wholeNow;
    lost = lostNow;
    lookedNanos = System.nanoTime();
    return sales;
  }

  private boolean staysLost(ProductSnapshot sale, StatesAhead states, Set<Long> wholeNow) {
    RedisSaleState seen = read(sale, states).orElse(null);
    if (seen == null) {
      return sale.isWanted() && lost.contains(sale.skuId());
    }
    if (seen.needsRebuild(sale)) {
      return !preheats.contain(sale, seen)
          && !attempt(sale, () -> hasChanged(sale) || rebuilt(sale, seen)).orElse(false);
    }
    wholeNow.add(sale.skuId());
    var unused = attempt(sale, () -> redis.complete(sale, seen));
    return false;
  }

  /** Empty, without a call, when the sale's part of Redis is silent. */
  private Optional<RedisSaleState> read(ProductSnapshot sale, StatesAhead states) {
    int part = guard.partOf(sale.skuId());
    return silent.contains(part)
        ? Optional.empty()
        : attempt(sale, () -> states.of(sale.skuId()), () -> silent.add(part));
  }

  /** Whether it was closed or preheated since it was read: rebuilds of others take minutes. */
  private boolean hasChanged(ProductSnapshot sale) {
    return ProductRows.find(jdbc, sale.skuId()).filter(sale::isSameLoadingAs).isEmpty();
  }

  private boolean compared(ProductSnapshot sale, RedisSaleState seen) {
    if (!seen.isAbsent() && !seen.needsRebuild(sale)) {
      compareWhenDue(sale, seen);
    }
    failures.remove(sale.skuId());
    return true;
  }

  /** A failure does not keep the next sale from being checked. */
  private <T> Optional<T> attempt(ProductSnapshot sale, Supplier<T> work) {
    return attempt(sale, work, () -> {});
  }

  private <T> Optional<T> attempt(ProductSnapshot sale, Supplier<T> work, Runnable ifSilent) {
    try {
      return Optional.of(work.get());
    } catch (ProblemException e) {
      log.info("sku {}: {}", sale.skuId(), e.getMessage());
    } catch (JedisDataException e) { // Redis answers, and refuses
      failed(sale.skuId(), e);
    } catch (JedisException e) {
      ifSilent.run();
      log.warn("sku {}: Redis does not answer: {}", sale.skuId(), e.toString());
    } catch (RuntimeException e) {
      failed(sale.skuId(), e);
    }
    return Optional.empty();
  }

  /** Logs a failure once, until it is another one; the sale is tried again at every check. */
  private void failed(long skuId, RuntimeException e) {
    checks.computeIfPresent(skuId, (sku, last) -> last.notClean());
    if (!e.toString().equals(failures.put(skuId, e.toString()))) {
      log.error("sku {}: cannot be compared, and is not repaired until it can be", skuId, e);
    }
  }

  /**
   * Continues a rebuild that has begun: its sale is closed in Redis, and nothing else would open
   * it. A sale that was never opened may be under preheat this very moment. One that MySQL has lost
   * in part has orders that a rebuild gives up: an operator begins it.
   */
  private boolean rebuilt(ProductSnapshot sale, RedisSaleState seen) {
    boolean isNewer = seen.isNewerThan(sale.epoch());
    if (!sale.isRunning() || !(seen.isLoading() || (settings.autoRebuild() && !isNewer))) {
      String lost = isNewer ? "MySQL has lost its preheat" : "Redis has lost the sale";
      log.error("sku {}: {}, reconcile it with look, then with repair", sale.skuId(), lost);
      return false;
    }
    Report report = reconciler.run(sale.skuId(), Order.rebuildInBackground(NAME));
    return report.outcome() == RunOutcome.REBUILT;
  }

  private void compareWhenDue(ProductSnapshot sale, RedisSaleState seen) {
    String moving = LastCheck.moving(sale, seen);
    LastCheck last = checks.getOrDefault(sale.skuId(), LastCheck.first());
    if (last.isDue(moving, settings.busyInterval())) {
      Report report = reconciler.run(sale.skuId(), Order.inBackground(false, stepEnds()));
      checks.put(sale.skuId(), new LastCheck(moving, !report.needsAnotherRun(), System.nanoTime()));
    } else {
      checks.put(sale.skuId(), last.with(moving));
    }
  }

  private Runnable stepEnds() {
    Runnable rests = pace.steps();
    return () -> {
      rests.run();
      leadership.isHeld(); // keeps it
    };
  }

  /** Releases the lock, so that another process can lead. */
  @PreDestroy
  void stop() {
    leading = false;
    leadership.close();
  }
}
