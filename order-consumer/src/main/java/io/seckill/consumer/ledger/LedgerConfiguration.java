package io.seckill.consumer.ledger;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The periodic tasks of the ledger. */
@Configuration(proxyBeanMethods = false)
class LedgerConfiguration {

  /** As often as Prometheus reads the metrics, see deploy/observability/prometheus.yml. */
  private static final Duration LEDGER_REFRESH_PAUSE = Duration.ofSeconds(5);

  @Bean
  Sweeper ledgerRefresh(Ledgers ledgers) {
    return new Sweeper("ledger-refresh", LEDGER_REFRESH_PAUSE, ledgers::refresh);
  }

  @Bean
  Sweeper unackedPost(UnackedBoard board) {
    return new Sweeper("unacked-post", UnackedBoard.POST_INTERVAL, board::post);
  }
}
