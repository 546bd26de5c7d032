package io.seckill.consumer.storage;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.IdlePools;
import java.sql.SQLException;
import javax.sql.DataSource;

/** For tests in which MySQL accepts no writes: it has no connections. */
public final class NoWrites extends DatabaseWriteProbe {

  public NoWrites() {
    super(IdlePools.create(new SimpleMeterRegistry()));
  }

  @Override
  public void probe(DataSource pool) throws SQLException {
    throw new SQLException("read-only");
  }
}
