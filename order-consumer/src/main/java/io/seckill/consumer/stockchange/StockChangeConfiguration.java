package io.seckill.consumer.stockchange;

import io.seckill.consumer.sweep.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class StockChangeConfiguration {

  @Bean
  Sweeper stockChangeSweeper(StockChanges changes, StockChangeProperties properties) {
    return new Sweeper("stock-change-sweep", properties.sweepInterval(), changes::sweep);
  }
}
