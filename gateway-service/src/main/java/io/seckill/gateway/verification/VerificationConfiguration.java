package io.seckill.gateway.verification;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisNodeWatch;
import io.seckill.gateway.ids.WorkerLeases;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import redis.clients.jedis.UnifiedJedis;

/** Creates the beans that verify Redis. */
@Configuration(proxyBeanMethods = false)
class VerificationConfiguration {

  /** How often Redis is compared with MySQL; the read of all products takes milliseconds. */
  private static final Duration WATCH_INTERVAL = Duration.ofSeconds(1);

  @Bean
  VerifiedServers verifiedServers(MeterRegistry meters) {
    VerifiedServers servers = new VerifiedServers();
    Gauge.builder("seckill.quarantined.skus", servers::quarantinedOnSale)
        .description("SKUs held because Redis knows less of them, without those that are over")
        .register(meters);
    Gauge.builder("seckill.redis.verified", () -> servers.allVerified() ? 1 : 0)
        .description("1 when the data of every partition has been compared with MySQL")
        .register(meters);
    return servers;
  }

  @Bean
  SaleWatch saleWatch(
      UnifiedJedis redis,
      RedisBreaker breaker,
      JdbcTemplate mysql,
      VerifiedServers servers,
      RedisNodeWatch nodes,
      HighWaterMarks marks,
      ConsumerClient consumer,
      WorkerLeases leases) {
    return new SaleWatch(
        new RedisInspection(redis, breaker),
        new StoredSales(mysql),
        servers,
        nodes::admits,
        marks,
        consumer::reportLostAdmissions,
        leases,
        WATCH_INTERVAL);
  }
}
