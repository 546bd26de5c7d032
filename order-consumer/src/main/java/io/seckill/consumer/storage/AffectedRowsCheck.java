package io.seckill.consumer.storage;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.ConnectionPools;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;

/**
 * Refuses the start when the driver does not count affected rows as the guards need it. Tests this
 * on the real server, in a transaction that is rolled back. A parameter missing from the URL, or
 * overridden by a properties file, has no other symptom than wrong stock.
 */
@Component
@DependsOnDatabaseInitialization
class AffectedRowsCheck implements InitializingBean {

  /** No order, user or SKU has this id. */
  private static final long NOBODY = -1;

  private final Transactions transactions;

  AffectedRowsCheck(ConnectionPools pools, MeterRegistry meters) {
    this.transactions = Transactions.ofStorage(pools, meters);
  }

  /** Throws IllegalStateException naming the parameter that is wrong. */
  @Override
  public void afterPropertiesSet() {
    transactions.run(
        jdbc -> {
          checkAffectedRows(jdbc);
          checkBatchCounts(jdbc);
          return null;
        });
  }

  /** facts.md 28: without useAffectedRows a refused quota counts 1, the same as an insert. */
  private static void checkAffectedRows(JdbcOperations jdbc) {
    int inserted = QuotaTable.raise(jdbc, NOBODY, NOBODY, 1, 2);
    int raised = QuotaTable.raise(jdbc, NOBODY, NOBODY, 1, 2);
    int refused = QuotaTable.raise(jdbc, NOBODY, NOBODY, 1, 2);
    if (inserted != 1 || raised != 2 || refused != 0) {
      throw new IllegalStateException(
          "useAffectedRows=true must be part of spring.datasource.url: an insert, a raise and a"
              + " refusal of a quota count %d, %d, %d instead of 1, 2, 0"
                  .formatted(inserted, raised, refused));
    }
  }

  /** facts.md 31: rewritten batches always count -2. */
  private static void checkBatchCounts(JdbcOperations jdbc) {
    int[] counts =
        jdbc.batchUpdate(
            "INSERT INTO order_alias (order_id, stored_order_id) VALUES (?, ?)",
            LongStream.of(-1, -2, -3, -4).mapToObj(id -> new Object[] {id, NOBODY}).toList());
    if (Arrays.stream(counts).anyMatch(count -> count != 1)) {
      throw new IllegalStateException(
          "rewriteBatchedStatements must not be on in spring.datasource.url: four inserts count "
              + Arrays.toString(counts)
              + " instead of 1 each");
    }
  }
}
