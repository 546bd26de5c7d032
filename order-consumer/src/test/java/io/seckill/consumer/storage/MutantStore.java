package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcOperations;

/** What storage must never do; a mutation calls it instead of the method of the same name. */
public final class MutantStore {

  private static final int EVERY = 20;
  private static final int ABOVE_ANY_LIMIT = 1_000_000;
  private static final AtomicInteger CONFIRMED = new AtomicInteger();

  private MutantStore() {}

  /** Returns a quantity above every limit for one order in 20 of a sale. */
  static int quantity(OrderMessage order) {
    return order.seq() % EVERY == 0 ? ABOVE_ANY_LIMIT : order.quantity();
  }

  /** Lets the service start with any count of affected rows. */
  static void checkAffectedRows(JdbcOperations jdbc) {}

  /** Returns no effective limit per user. */
  static int limit(SaleRules sale) {
    return Integer.MAX_VALUE;
  }

  /** Refuses one purchase in 20 that is stored. */
  public static List<StrongDecision> decide(StrongSales sales, List<StrongPurchase> purchases) {
    return sales.decide(purchases).stream().map(MutantStore::refused).toList();
  }

  private static StrongDecision refused(StrongDecision decision) {
    boolean isTurn =
        decision.outcome() == Outcome.CONFIRMED && CONFIRMED.incrementAndGet() % EVERY == 0;
    return isTurn ? StrongDecision.of(Outcome.QUOTA_EXCEEDED) : decision;
  }

  /** Commits what the transaction had done when it failed. */
  static void rollback(Connection connection) throws SQLException {
    connection.commit();
  }
}
