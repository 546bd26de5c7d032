package io.seckill.consumer.runtime;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Classifies an SQL error by how the caller can continue. */
public enum SqlFailure {
  /** A row was refused: duplicate, constraint, bad value. The others of its batch may be fine. */
  ROW,
  /** Deadlock or lock wait time-out: repeat the transaction a little later. */
  TRY_AGAIN,
  /**
   * Anything else, such as a COMMIT whose outcome is unknown. No order is blamed: a lost table
   * would turn all orders into dead letters.
   */
  UNAVAILABLE;

  private static final int LOCK_WAIT = 1205;
  private static final int DEADLOCK = 1213;
  private static final int CHECK_MYSQL = 3819;
  private static final int CHECK_MARIADB = 4025;

  /** Examines the causes too: the driver's error may be wrapped. */
  public static SqlFailure of(Throwable e) {
    for (Throwable at = e; at != null; at = at.getCause()) {
      if (at instanceof SQLException sql) {
        SqlFailure failure = ofOne(sql.getErrorCode(), sql.getSQLState());
        if (failure != UNAVAILABLE) {
          return failure;
        }
      }
    }
    return UNAVAILABLE;
  }

  private static SqlFailure ofOne(int code, @Nullable String state) {
    return switch (code) {
      case LOCK_WAIT, DEADLOCK -> TRY_AGAIN;
      case CHECK_MYSQL, CHECK_MARIADB -> ROW;
      default -> ofState(state == null ? "" : state);
    };
  }

  /** Classes of SQL:2016: 22 data exception, 23 constraint, 40 rollback; 45 is SIGNAL's. */
  private static SqlFailure ofState(String state) {
    if (state.startsWith("22") || state.startsWith("23") || state.startsWith("45")) {
      return ROW;
    }
    return state.startsWith("40") ? TRY_AGAIN : UNAVAILABLE;
  }
}
