package io.seckill.gateway.verification;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.RedisInspection.Observation;
import io.seckill.gateway.verification.RedisInspection.View;
import io.seckill.gateway.verification.StoredSales.Sale;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.datasource.AbstractDataSource;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class SaleWatchIT {

  private static final Duration ONE_LOOK = Duration.ofHours(1);

  @Test
  void doesNotHoldASaleThatIsResumedUnderLoadWhileItLooks(
      RedisServer redisServer, MySqlServer mysqlServer) {
    SeededDatabase database = SeededDatabase.create(mysqlServer);
    try (UnifiedJedis redis = redisServer.newDatabase().open()) {
      TestSale sale = TestSale.open(redis, PurchasePolicy.UNLIMITED, 0, 100).with("seq", 3);
      database.sale(sale.sku(), "PAUSED", 1, 3);
      // The sale is resumed after the first read of MySQL; orders are admitted and stored after
      // the read of Redis.
      JdbcTemplate mysql =
          new ResumedBetweenReadings(
              database,
              () -> {
                sale.with("seq", 5);
                database.sale(sale.sku(), "OPEN", 1, 5);
              });
      VerifiedServers servers = new VerifiedServers();

      try (WorkerLeases leases = leases(redis);
          SaleWatch watch = watch(redis, mysql, servers, leases)) {
        watch.wake();
        eventually().until(servers::allVerified);

        assertThat(servers.quarantined()).isEmpty();
      }
    }
  }

  @Test
  void asksAnUnavailableMySqlOncePerIntervalOnly(RedisServer redisServer) {
    AtomicInteger asked = new AtomicInteger();
    JdbcTemplate unavailable =
        new JdbcTemplate(
            new AbstractDataSource() {
              @Override
              public Connection getConnection() throws SQLException {
                asked.incrementAndGet();
                throw new SQLException("unavailable", "08001");
              }

              @Override
              public Connection getConnection(String user, String password) throws SQLException {
                return getConnection();
              }
            });
    try (UnifiedJedis redis = redisServer.newDatabase().open()) {

      try (WorkerLeases leases = leases(redis);
          SaleWatch watch = watch(redis, unavailable, new VerifiedServers(), leases)) {
        watch.wake();
        watch.wake();
        watch.wake();
        eventually().until(() -> asked.get() > 0);
      } // waits until the thread has ended

      assertThat(asked).hasValue(1);
    }
  }

  /** Its sale cannot be read; the other sales of its partition can, and are sold. */
  @Test
  void aForeignKeyKeepsNoPartitionUnverified(RedisServer redisServer) {
    try (UnifiedJedis redis = redisServer.newDatabase().open()) {
      TestSale sale = TestSale.open(redis, PurchasePolicy.UNLIMITED, 0, 100).with("seq", 3);
      long foreign = sale.sku() + Partition.COUNT;
      redis.sadd(RedisKeys.sku(foreign), "foreign");

      View view =
          new RedisInspection(redis, RedisBreakers.of(redis, new SimpleMeterRegistry()))
              .inspect(
                  List.of(
                      new Sale(foreign, "OPEN", false, 1, 0, 0),
                      new Sale(sale.sku(), "OPEN", false, 1, 3, 0)));

      assertThat(view.servers()).hasSize(Partition.COUNT);
      assertThat(view.sales().get(foreign)).isEqualTo(Observation.ABSENT);
      assertThat(view.sales().get(sale.sku()).seq()).isEqualTo(3);
    }
  }

  /** The shared Redis is unsafe. */
  @Test
  void sellsFromNoServerThatTheNodeWatchRefuses() {
    GatewayStage stage = GatewayStage.shared();
    try (TestGateway gateway =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            stage.consumer().url(),
            "seckill.preheat.allow-unsafe-redis=never")) {
      SaleWatch watch = gateway.bean(SaleWatch.class);
      eventually("it has compared").until(() -> watch.pause().compareTo(SaleWatch.TICK) > 0);

      assertThat(gateway.bean(VerifiedServers.class).allVerified()).isFalse();
    }
  }

  private static WorkerLeases leases(UnifiedJedis redis) {
    RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
    return new WorkerLeases(redis, breaker, WorkerLeases.DURATION);
  }

  private static SaleWatch watch(
      UnifiedJedis redis, JdbcTemplate mysql, VerifiedServers servers, WorkerLeases leases) {
    return new SaleWatch(
        new RedisInspection(redis, RedisBreakers.of(redis, new SimpleMeterRegistry())),
        new StoredSales(mysql),
        servers,
        server -> true,
        new HighWaterMarks(),
        (sku, epoch, seq) -> Mono.error(new AssertionError("nothing is lost")),
        leases,
        ONE_LOOK);
  }

  /** Runs the given task before the second query of the sales. */
  private static final class ResumedBetweenReadings extends JdbcTemplate {

    private final Runnable resume;
    private int readings;

    ResumedBetweenReadings(SeededDatabase database, Runnable resume) {
      super(database.dataSource());
      this.resume = resume;
    }

    @Override
    public <T> List<T> query(String sql, RowMapper<T> rowMapper) {
      if (++readings == 2) {
        resume.run();
      }
      return super.query(sql, rowMapper);
    }
  }
}
