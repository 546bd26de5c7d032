package io.seckill.gateway.verification;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.gateway.verification.StoredSales.Sale;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.LoggedLines;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.RowMapper;
import reactor.core.publisher.Mono;
import redis.clients.jedis.exceptions.JedisConnectionException;

class SaleWatchTest {

  private static final long SKU = 1_001;
  private static final Duration LONG = Duration.ofHours(1);
  private static final Object LEASED = List.of("5", "0", "9000000000000", "1");

  private final CannedSales mysql = new CannedSales();
  private final VerifiedServers servers = new VerifiedServers();
  private final HighWaterMarks marks = new HighWaterMarks();
  private final List<List<Long>> losses = new CopyOnWriteArrayList<>();
  private Mono<?> answer = Mono.empty();
  private Duration interval = LONG;
  private final AtomicBoolean inspects = new AtomicBoolean(true);
  private final CannedRedis leased = new CannedRedis(command -> LEASED);
  private final CannedRedis redis =
      new CannedRedis(command -> inspects.get() ? List.of("5eed") : List.of("other"));
  private final RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());

  @Test
  void restsForItsIntervalWhenEveryServerIsVerified() {
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases)) {
      eventually().until(servers::allVerified);
      eventually().until(() -> watch.pause().compareTo(LONG.dividedBy(2)) > 0);
      assertThat(losses).isEmpty();

      int before = redis.roundTrips();
      inspects.set(false);
      servers.otherServer(4, servers.replicationId(4));
      watch.wake();

      eventually().until(() -> "other".equals(servers.replicationId(4)));
      eventually().until(() -> watch.pause().compareTo(LONG.dividedBy(2)) > 0);
      assertThat(redis.roundTrips()).as("one for all partitions").isEqualTo(before + 1);
    }
  }

  /** As a promoted server that refuses every write while it has no replica. */
  @Test
  void looksLessOftenWhileAServerStaysUnverified() {
    interval = SaleWatch.TICK.multipliedBy(4);
    try (WorkerLeases none =
            new WorkerLeases(new CannedRedis(command -> List.of()), breaker, LONG);
        SaleWatch watch = watch(none)) {
      awaitPausesOfAnInterval(watch);
      assertThat(servers.unverified()).hasSize(Partition.COUNT);

      eventually("another server is reached")
          .until(
              () -> {
                watch.wake();
                return watch.pause().equals(SaleWatch.TICK);
              });
      awaitPausesOfAnInterval(watch);
    }
  }

  /** Also after further comparisons. */
  private void awaitPausesOfAnInterval(SaleWatch watch) {
    eventually().until(() -> watch.pause().compareTo(interval) >= 0);
    int before = mysql.readings.get();
    eventually().until(() -> mysql.readings.get() > before + 1);
    assertThat(watch.pause()).isGreaterThanOrEqualTo(interval);
  }

  @Test
  void verifiesNoServerThatMayNotBeSoldFrom() {
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases, server -> false)) {
      eventually().until(() -> watch.pause().compareTo(LONG.dividedBy(2)) > 0);

      assertThat(IntStream.range(0, Partition.COUNT).mapToObj(servers::replicationId))
          .containsOnlyNulls();
      assertThat(breaker.health().usable()).as("although it answers").isFalse();
    }
  }

  @Test
  void aServerIsUsableAgainOnceItMayBeSoldFrom() {
    AtomicBoolean may = new AtomicBoolean();
    interval = SaleWatch.TICK;
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases, server -> may.get())) {
      eventually().until(() -> !breaker.health().usable());

      may.set(true);
      watch.wake();

      eventually().until(() -> breaker.health().usable() && servers.allVerified());
    }
  }

  @Test
  void keepsAQuarantineWhileRedisCannotBeRead() {
    CannedRedis unavailable =
        new CannedRedis(
            command -> {
              throw new JedisConnectionException("for the test");
            });
    RedisInspection inspection =
        new RedisInspection(unavailable, RedisBreakers.of(unavailable, new SimpleMeterRegistry()));
    servers.quarantine(Set.of(SKU), 1);
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases, inspection, server -> true)) {
      watch.wake();
      eventually().until(() -> mysql.readings.get() > 1);

      assertThat(servers.quarantined()).containsExactly(SKU);
    }
  }

  @Test
  void forgetsWhatItHasSeenOfASaleThatMySqlDoesNotHaveAnyMore() {
    marks.record("5eed", SKU, 2, 5);
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases)) {
      watch.wake();

      eventually().until(() -> marks.of(SKU) == null);
    }
  }

  @Test
  void reportsALossThatMySqlDoesNotShow() {
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watchALoss(leases)) {
      watch.wake();
      eventually().until(servers::allVerified);

      assertThat(losses).isNotEmpty().containsOnly(List.of(SKU, 2L, 5L));
      assertThat(servers.quarantined()).containsExactly(SKU);
    }
  }

  @Test
  void quarantinesASaleBeforeItVerifiesTheServer() {
    List<Set<Long>> quarantined = new CopyOnWriteArrayList<>();
    CannedRedis asked =
        new CannedRedis(
            command -> {
              if (Thread.currentThread().getName().equals("sale-watch")) {
                quarantined.add(servers.quarantined());
              }
              return LEASED;
            });
    try (WorkerLeases leases = new WorkerLeases(asked, breaker, LONG);
        SaleWatch watch = watchALoss(leases)) {
      watch.wake();
      eventually().until(servers::allVerified);

      assertThat(quarantined).isNotEmpty().containsOnly(Set.of(SKU));
    }
  }

  /** It may have been preheated after MySQL was read. */
  @Test
  void comparesASaleThatItQuarantinesAgainAtOnce() {
    mysql.sales = List.of(new Sale(SKU, "OPEN", false, 3, 0, 0));
    AtomicInteger inspected = new AtomicInteger();
    CannedRedis preheated =
        new CannedRedis(
            command -> {
              if (!command.contains(Long.toString(SKU))) {
                return List.of("5eed");
              }
              String epoch = inspected.getAndIncrement() == 0 ? "2" : "3";
              return List.of("5eed", "OPEN", epoch, "0", "0");
            });
    RedisInspection inspection =
        new RedisInspection(preheated, RedisBreakers.of(preheated, new SimpleMeterRegistry()));
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases, inspection, server -> true)) {
      watch.wake();

      eventually().until(() -> inspected.get() > 1 && servers.quarantined().isEmpty());
    }
  }

  /** Else sales read before the server was proven would pass for all that was published. */
  @Test
  void readsTheProvenServersBeforeTheSales() {
    try (WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watch(leases)) {
      watch.wake();
      eventually().until(() -> mysql.statements.size() > 1);

      assertThat(mysql.statements.get(0)).contains("FROM redis_server");
    }
  }

  @Test
  void logsALossOnceThatItReportsInVainAgainAndAgain() {
    interval = SaleWatch.TICK;
    answer = Mono.error(new IllegalStateException("order-consumer does not answer"));
    LoggedLines lines = LoggedLines.of(SaleWatch.class);
    try (lines;
        WorkerLeases leases = new WorkerLeases(leased, breaker, LONG);
        SaleWatch watch = watchALoss(leases)) {
      watch.wake();
      eventually().until(() -> losses.size() > 5);
    }

    assertThat(lines.texts())
        .filteredOn(line -> line.contains("some admissions") || line.contains("not answer"))
        .hasSize(2);
  }

  /** Another server admitted a fifth order, which MySQL has not stored yet. */
  private SaleWatch watchALoss(WorkerLeases leases) {
    marks.record("another server", SKU, 2, 5);
    mysql.sales = List.of(new Sale(SKU, "OPEN", false, 2, 3, 0));
    CannedRedis older =
        new CannedRedis(
            command ->
                command.contains(Long.toString(SKU))
                    ? List.of("5eed", "OPEN", "2", "3", "0")
                    : List.of("5eed"));
    RedisInspection inspection =
        new RedisInspection(older, RedisBreakers.of(older, new SimpleMeterRegistry()));
    return watch(leases, inspection, server -> true);
  }

  private SaleWatch watch(WorkerLeases leases) {
    return watch(leases, server -> true);
  }

  private SaleWatch watch(WorkerLeases leases, Predicate<String> mayBeSoldFrom) {
    return watch(leases, new RedisInspection(redis, breaker), mayBeSoldFrom);
  }

  private SaleWatch watch(
      WorkerLeases leases, RedisInspection inspection, Predicate<String> mayBeSoldFrom) {
    return new SaleWatch(
        inspection,
        new StoredSales(mysql),
        servers,
        mayBeSoldFrom,
        marks,
        (sku, epoch, seq) -> {
          losses.add(List.of(sku, epoch, seq));
          return answer;
        },
        leases,
        interval);
  }

  private static final class CannedSales extends JdbcTemplate {

    private final AtomicInteger readings = new AtomicInteger();
    private final List<String> statements = new CopyOnWriteArrayList<>();
    private volatile List<Sale> sales = List.of();

    @Override
    @SuppressWarnings("unchecked") // the watch reads sales alone
    public <T> List<T> query(String sql, RowMapper<T> rows) {
      readings.incrementAndGet();
      statements.add(sql);
      return (List<T>) sales;
    }

    @Override
    public void query(String sql, RowCallbackHandler rows) {
      statements.add(sql);
    }
  }
}
