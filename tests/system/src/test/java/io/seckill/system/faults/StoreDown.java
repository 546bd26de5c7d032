package io.seckill.system.faults;

import java.sql.SQLException;
import java.util.Set;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Decides whether a check failed because a fault keeps its store from answering, which is passed
 * over, or because the check itself is wrong, which is not.
 */
final class StoreDown {

  /** Lost links, refused connections and time-outs of the driver have states of this class. */
  private static final String CONNECTION_EXCEPTION = "08";

  /**
   * Lock wait time-out, shutdown in progress, query interrupted, connection killed, and two limits
   * of a user's connections.
   */
  private static final Set<Integer> OUT_OF_SERVICE = Set.of(1205, 1053, 1317, 1927, 1203, 1226);

  /** A server that starts, fails over, lacks memory or disk, or runs another script. */
  private static final Set<String> NOT_READY =
      Set.of(
          "LOADING",
          "MASTERDOWN",
          "CLUSTERDOWN",
          "TRYAGAIN",
          "READONLY",
          "NOREPLICAS",
          "MISCONF",
          "OOM",
          "BUSY");

  private StoreDown() {}

  static boolean isSaidBy(SQLException failure) {
    String state = failure.getSQLState();
    return (state != null && state.startsWith(CONNECTION_EXCEPTION))
        || OUT_OF_SERVICE.contains(failure.getErrorCode());
  }

  /** An exception that is no answer of Redis says that there was none. */
  static boolean isSaidBy(JedisException failure) {
    if (failure instanceof JedisAccessControlException) {
      return false;
    }
    String said = String.valueOf(failure.getMessage());
    return !(failure instanceof JedisDataException) || NOT_READY.contains(said.split(" ", 2)[0]);
  }
}
