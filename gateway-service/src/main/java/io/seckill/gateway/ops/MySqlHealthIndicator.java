package io.seckill.gateway.ops;

import io.seckill.gateway.backends.BlockingCalls;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Degraded while MySQL does not answer: purchases continue, old orders cannot be shown. Replaces
 * Boot's own indicator, which waits as long as the driver does.
 */
@Component("mysqlHealthIndicator")
final class MySqlHealthIndicator implements ReactiveHealthIndicator {

  private final JdbcClient mysql;
  private final BlockingCalls calls;

  MySqlHealthIndicator(JdbcClient mysql, @Qualifier("operatorMysqlCalls") BlockingCalls calls) {
    this.mysql = mysql;
    this.calls = calls;
  }

  @Override
  public Mono<Health> health() {
    return calls
        .call(() -> mysql.sql("SELECT 1").query(Integer.class).single())
        .map(one -> Health.up().build())
        .onErrorReturn(ConsumerHealthIndicator.degraded());
  }
}
