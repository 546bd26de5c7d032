package io.seckill.consumer.runtime;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;

/** Connection pools that never connect, for tests without MySQL. */
public final class IdlePools {

  private IdlePools() {}

  public static ConnectionPools create(MeterRegistry meters) {
    return new ConnectionPools(new HikariDataSource(), meters);
  }
}
