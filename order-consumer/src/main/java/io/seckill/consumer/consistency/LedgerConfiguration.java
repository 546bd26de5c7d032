package io.seckill.consumer.consistency;

import io.seckill.consumer.runtime.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Starts the periodic tasks of the ledger. */
@Configuration(proxyBeanMethods = false)
class LedgerConfiguration {

  @Bean
  Sweeper ledgerRefresh(Ledgers ledgers, LedgerProperties settings) {
    return new Sweeper("ledger-refresh", settings.refreshInterval(), ledgers::refresh);
  }

  @Bean
  Sweeper unackedPost(UnackedBoard board) {
    return new Sweeper("unacked-post", UnackedBoard.POST_INTERVAL, board::post);
  }
}
