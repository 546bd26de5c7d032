package io.seckill.consumer.catalogue;

import io.seckill.consumer.runtime.Sweeper;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class StockChangeConfiguration {

  @Bean
  Sweeper stockChangeSweeper(StockChanges changes, StockChangeProperties properties) {
    return new Sweeper("stock-change-sweep", properties.sweepInterval(), changes::sweep);
  }
}
