package io.seckill.consumer.loading;

import io.seckill.consumer.runtime.Snapshots;
import java.util.function.Function;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Reads consistent snapshots of MySQL, each in a transaction. Thread-safe. */
@Component
public record DatabaseSnapshots(Snapshots snapshots) {

  /**
   * @param work uses the snapshot only until it returns
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable, or a
   *     TransactionException
   */
  public <T> T read(Function<DatabaseSnapshot, T> work) {
    return snapshots.read(jdbc -> work.apply(new DatabaseSnapshot(JdbcClient.create(jdbc))));
  }
}
