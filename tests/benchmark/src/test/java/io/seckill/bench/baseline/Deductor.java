package io.seckill.bench.baseline;

import java.sql.SQLException;

/** A way to take one cent at a time from wallets: never below zero, a key once. */
@FunctionalInterface
public interface Deductor extends AutoCloseable {

  /**
   * Returns when the outcome is as durable as this way makes it.
   *
   * @return false when it lost to others too often, and wrote nothing
   */
  boolean deduct(Deduction deduction) throws Exception;

  @Override
  default void close() throws SQLException {}

  /** Opens the deductor of one client. */
  @FunctionalInterface
  interface Opener {
    Deductor open() throws Exception;
  }
}
