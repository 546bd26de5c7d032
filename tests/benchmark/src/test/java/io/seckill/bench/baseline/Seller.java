package io.seckill.bench.baseline;

import io.seckill.common.order.OrderMessage;
import java.sql.SQLException;

/**
 * A way to sell one unit at a time from one hot row, with the promises of the pipeline: a key once,
 * no user above the limit, no unit twice.
 */
@FunctionalInterface
public interface Seller extends AutoCloseable {

  /** Returns when the verdict is as durable as this way makes it. */
  Verdict sell(OrderMessage purchase) throws Exception;

  @Override
  default void close() throws SQLException {}

  /** Opens the seller of one shopper. */
  @FunctionalInterface
  interface Opener {
    Seller open() throws Exception;
  }
}
