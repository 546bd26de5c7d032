package io.seckill.consumer.runtime;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.testing.MySqlDatabase;

/** Connection pools for tests without the service. */
public final class IdlePools {

  private IdlePools() {}

  /** They never connect. */
  public static ConnectionPools create(MeterRegistry meters) {
    return new ConnectionPools(new HikariDataSource(), meters);
  }

  /** They connect when they are asked for a connection; the caller closes those it uses. */
  public static ConnectionPools to(MySqlDatabase database, MeterRegistry meters) {
    HikariDataSource settings = new HikariDataSource();
    settings.setJdbcUrl(database.jdbcUrl());
    settings.setUsername(database.username());
    settings.setPassword(database.password());
    settings.setMinimumIdle(0);
    return new ConnectionPools(settings, meters);
  }
}
