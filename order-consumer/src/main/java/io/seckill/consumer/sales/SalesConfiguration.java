package io.seckill.consumer.sales;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Sweeps pending stops and stock changes. */
@Configuration(proxyBeanMethods = false)
class SalesConfiguration {

  /** How long a store that is available again may lack a stop that the other store has. */
  private static final Duration STOP_SWEEP_PAUSE = Duration.ofSeconds(1);

  /** Only a change that Redis did not confirm waits for the sweep, with its operator. */
  private static final Duration CHANGE_SWEEP_PAUSE = Duration.ofSeconds(5);

  @Bean
  Sweeper pendingStopSweeper(PendingStops stops) {
    return new Sweeper("pending-stops", STOP_SWEEP_PAUSE, stops::sweep);
  }

  @Bean
  Sweeper stockChangeSweeper(StockChanges changes) {
    return new Sweeper("stock-change-sweep", CHANGE_SWEEP_PAUSE, changes::sweep);
  }
}
