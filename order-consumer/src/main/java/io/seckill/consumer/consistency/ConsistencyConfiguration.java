package io.seckill.consumer.consistency;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The periodic tasks of the ledger and of reconciliation. */
@Configuration(proxyBeanMethods = false)
class ConsistencyConfiguration {

  /** As often as Prometheus reads the metrics, see deploy/observability/prometheus.yml. */
  private static final Duration LEDGER_REFRESH_PAUSE = Duration.ofSeconds(5);

  /** Short, because a gateway that starts after a change of the Redis server waits for it. */
  private static final Duration SERVER_CHECKS = Duration.ofSeconds(1);

  @Bean
  Sweeper ledgerRefresh(Ledgers ledgers) {
    return new Sweeper("ledger-refresh", LEDGER_REFRESH_PAUSE, ledgers::refresh);
  }

  @Bean
  Sweeper unackedPost(UnackedBoard board) {
    return new Sweeper("unacked-post", UnackedBoard.POST_INTERVAL, board::post);
  }

  @Bean
  Sweeper redisServerSweeper(RedisServers servers) {
    return new Sweeper("redis-servers", SERVER_CHECKS, servers::round);
  }

  @Bean
  Sweeper reconciliationSweeper(Schedule schedule, ReconciliationProperties properties) {
    return new Sweeper("reconciliation", properties.interval(), schedule::round);
  }
}
