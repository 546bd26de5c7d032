package io.seckill.gateway.verification;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.RowMapper;
import reactor.core.publisher.Mono;

class SaleWatchTest {

  private static final Duration LONG = Duration.ofHours(1);
  private static final Object LEASED = List.of("5", "0", "9000000000000", "1");

  private final NoSales mysql = new NoSales();
  private final VerifiedServers servers = new VerifiedServers();
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

      int before = redis.roundTrips();
      inspects.set(false);
      servers.otherServer(4, servers.replicationId(4));
      watch.wake();

      eventually().until(() -> "other".equals(servers.replicationId(4)));
      eventually().until(() -> watch.pause().compareTo(LONG.dividedBy(2)) > 0);
      assertThat(redis.roundTrips()).as("one for all partitions").isEqualTo(before + 1);
    }
  }

  @Test
  void looksOftenWhileAServerWaitsToBeVerified() {
    try (WorkerLeases none =
            new WorkerLeases(new CannedRedis(command -> List.of()), breaker, LONG);
        SaleWatch watch = watch(none)) {
      eventually().until(() -> mysql.readings.get() > 1);

      assertThat(watch.pause()).isEqualTo(SaleWatch.TICK);
      assertThat(servers.allVerified()).isFalse();
    }
  }

  private SaleWatch watch(WorkerLeases leases) {
    return new SaleWatch(
        new RedisInspection(redis, breaker),
        new StoredSales(mysql),
        servers,
        server -> true,
        new HighWaterMarks(),
        (sku, epoch, seq) -> Mono.error(new AssertionError("nothing is lost")),
        leases,
        LONG);
  }

  private static final class NoSales extends JdbcTemplate {

    private final AtomicInteger readings = new AtomicInteger();

    @Override
    public <T> List<T> query(String sql, RowMapper<T> rows) {
      readings.incrementAndGet();
      return List.of();
    }

    @Override
    public void query(String sql, RowCallbackHandler rows) {}
  }
}
