package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import java.sql.Connection;
import java.sql.SQLException;
import org.springframework.jdbc.core.JdbcOperations;

/** What storage must never do; a mutation calls it instead of the method of the same name. */
public final class MutantStore {

  private static final int EVERY = 20;
  private static final int ABOVE_ANY_LIMIT = 1_000_000;

  private MutantStore() {}

  /** Returns a quantity above every limit for one order in 20 of a sale. */
  static int quantity(OrderMessage order) {
    return order.seq() % EVERY == 0 ? ABOVE_ANY_LIMIT : order.quantity();
  }

  /** Lets the service start whatever the driver counts as affected rows. */
  static void checkAffectedRows(JdbcOperations jdbc) {}

  /** Returns no effective limit per user. */
  static int limit(SaleRules sale) {
    return Integer.MAX_VALUE;
  }

  /** Commits what the transaction had done when it failed. */
  static void rollback(Connection connection) throws SQLException {
    connection.commit();
  }
}
