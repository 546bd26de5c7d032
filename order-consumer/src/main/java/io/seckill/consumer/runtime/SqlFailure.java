package io.seckill.consumer.runtime;

import com.mysql.cj.jdbc.exceptions.PacketTooBigException;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.CannotCreateTransactionException;

/**
 * Classifies an SQL error by how the caller can continue. {@code SqlFailureTest} has the table of
 * the errors of both servers.
 */
public enum SqlFailure {
  /** A row was refused: duplicate, constraint, bad value. The others of its batch may be fine. */
  ROW,
  /**
   * The statement was refused: it is too large or takes too long for a limit of the server, or it
   * is not allowed. MySQL is available, and the statement may succeed with fewer rows.
   */
  STATEMENT,
  /** Deadlock or lock wait time-out: repeat the transaction a little later. */
  TRY_AGAIN,
  /**
   * Anything else, such as a COMMIT whose outcome is unknown. No order is blamed: a lost table
   * would turn all orders into dead letters.
   */
  UNAVAILABLE;

  /**
   * CHECK on MySQL, CHECK on MariaDB, and values that MySQL reports without a class of their own.
   */
  private static final Set<Integer> ROWS =
      Set.of(
          3819, // ER_CHECK_CONSTRAINT_VIOLATED
          4025, // ER_CONSTRAINT_FAILED of MariaDB
          1265, // WARN_DATA_TRUNCATED
          1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
          1369, // ER_VIEW_CHECK_FAILED
          1411, // ER_WRONG_VALUE_FOR_TYPE
          1526, // ER_NO_PARTITION_FOR_GIVEN_VALUE
          1748); // ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET

  private static final Set<Integer> STATEMENTS =
      Set.of(
          // Too large.
          1038, // ER_OUT_OF_SORTMEMORY
          1104, // ER_TOO_BIG_SELECT
          1118, // ER_TOO_BIG_ROWSIZE
          1119, // ER_STACK_OVERRUN
          1153, // ER_NET_PACKET_TOO_LARGE
          1162, // ER_TOO_LONG_STRING
          1197, // ER_TRANS_CACHE_FULL
          1206, // ER_LOCK_TABLE_FULL
          1301, // ER_WARN_ALLOWED_PACKET_OVERFLOWED
          1390, // ER_PS_MANY_PARAM
          1436, // ER_STACK_OVERRUN_NEED_MORE
          1705, // ER_STMT_CACHE_FULL
          3100, // ER_RUN_HOOK_ERROR: a transaction beyond Group Replication's limit
          // Too long.
          1317, // ER_QUERY_INTERRUPTED, also by a tool that ends long statements
          1969, // ER_STATEMENT_TIMEOUT of MariaDB
          3024, // ER_QUERY_TIMEOUT of MySQL
          // Not allowed to anybody; a right that this user lacks counts as MySQL unavailable.
          1148, // ER_NOT_ALLOWED_COMMAND
          1175); // ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE

  private static final Set<Integer> CONFLICTS =
      Set.of(
          1020, // ER_CHECKREAD
          1205, // ER_LOCK_WAIT_TIMEOUT
          1213, // ER_LOCK_DEADLOCK
          1412, // ER_TABLE_DEF_CHANGED
          1615, // ER_NEED_REPREPARE
          1689); // ER_LOCK_ABORTED

  /** Examines the causes too: the driver's error may be wrapped. */
  public static SqlFailure of(Throwable e) {
    for (Throwable at = e; at != null; at = at.getCause()) {
      if (at instanceof PacketTooBigException) {
        return STATEMENT; // the driver compares with max_allowed_packet itself
      }
      if (at instanceof SQLException sql) {
        SqlFailure failure = ofOne(sql.getErrorCode(), sql.getSQLState());
        if (failure != UNAVAILABLE) {
          return failure;
        }
      }
    }
    return UNAVAILABLE;
  }

  /**
   * For the loops whose items fail alone: without a connection to MySQL, each further item would
   * wait for one as well.
   *
   * @throws RuntimeException this one, when there was no connection
   */
  public static void throwIfAway(RuntimeException e) {
    if (e instanceof CannotCreateTransactionException
        || e instanceof DataAccessResourceFailureException) {
      throw e;
    }
  }

  /** Whether MySQL is available and refused this work, for its rows or as a statement. */
  public boolean isRefusal() {
    return this == ROW || this == STATEMENT;
  }

  private static SqlFailure ofOne(int code, @Nullable String state) {
    if (ROWS.contains(code)) {
      return ROW;
    } else if (STATEMENTS.contains(code)) {
      return STATEMENT;
    }
    return CONFLICTS.contains(code) ? TRY_AGAIN : ofState(state == null ? "" : state);
  }

  /**
   * Classes of SQL:2016: 22 data exception, 23 constraint, 40 rollback, 44 view; 45 is SIGNAL's.
   */
  private static SqlFailure ofState(String state) {
    if (state.matches("(22|23|44|45).*")) {
      return ROW;
    }
    return state.startsWith("40") ? TRY_AGAIN : UNAVAILABLE;
  }
}
