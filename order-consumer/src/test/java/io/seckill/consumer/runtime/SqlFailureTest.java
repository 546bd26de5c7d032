package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mysql.cj.jdbc.exceptions.PacketTooBigException;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;

/** The errors of MySQL 9 and MariaDB 10.11 that a statement here can meet, with their SQLState. */
class SqlFailureTest {

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({
    // The values of a row.
    "1048, 23000, column cannot be null,                   ROW",
    "1062, 23000, duplicate key,                           ROW",
    "1264, 22003, value out of range,                      ROW",
    "1265, 01000, data truncated (MySQL),                  ROW",
    "1292, 22007, wrong date or number,                    ROW",
    "1366, HY000, wrong value for the column (MySQL),      ROW",
    "1366, 22007, wrong value for the column (MariaDB),    ROW",
    "1369, HY000, CHECK OPTION of a view (MySQL),          ROW",
    "1369, 44000, CHECK OPTION of a view (MariaDB),        ROW",
    "1406, 22001, data too long for the column,            ROW",
    "1411, HY000, wrong value for the type,                ROW",
    "1451, 23000, referenced by a foreign key,             ROW",
    "1452, 23000, no row for a foreign key,                ROW",
    "1526, HY000, no partition for the value,              ROW",
    "1644, 45000, SIGNAL of a trigger,                     ROW",
    "1690, 22003, number out of range,                     ROW",
    "1748, HY000, row does not match the partition,        ROW",
    "3819, HY000, CHECK (MySQL),                           ROW",
    "4025, 23000, CHECK (MariaDB),                         ROW",
    // Too large.
    "1038, HY001, out of sort memory,                      STATEMENT",
    "1104, 42000, max_join_size,                           STATEMENT",
    "1118, 42000, row size too large,                      STATEMENT",
    "1119, HY000, thread stack overrun,                    STATEMENT",
    "1153, 08S01, max_allowed_packet,                      STATEMENT",
    "1162, 42000, result string above max_allowed_packet,  STATEMENT",
    "1197, HY000, max_binlog_cache_size,                   STATEMENT",
    "1206, HY000, more locks than the lock table holds,    STATEMENT",
    "1301, HY000, function result above max_allowed_packet,STATEMENT",
    "1390, HY000, too many placeholders,                   STATEMENT",
    "1436, HY000, thread stack overrun,                    STATEMENT",
    "1705, HY000, max_binlog_stmt_cache_size,              STATEMENT",
    "3100, HY000, group_replication_transaction_size_limit,STATEMENT",
    // Too long.
    "1317, 70100, statement interrupted,                   STATEMENT",
    "1969, 70100, max_statement_time (MariaDB),            STATEMENT",
    "3024, HY000, max_execution_time (MySQL),              STATEMENT",
    // Not allowed.
    "1142, 42000, no right on the table,                   UNAVAILABLE",
    "1143, 42000, no right on the column,                  UNAVAILABLE",
    "1148, 42000, command not allowed,                     STATEMENT",
    "1175, HY000, sql_safe_updates,                        STATEMENT",
    "1227, 42000, no privilege,                            UNAVAILABLE",
    "1370, 42000, no right on the routine,                 UNAVAILABLE",
    // Conflicts.
    "1020, HY000, row changed since it was read,           TRY_AGAIN",
    "1205, HY000, lock wait time-out (MariaDB),            TRY_AGAIN",
    "1205, 40001, lock wait time-out (MySQL),              TRY_AGAIN",
    "1213, 40001, deadlock,                                TRY_AGAIN",
    "1412, HY000, table definition changed,                TRY_AGAIN",
    "1615, HY000, statement needs to be prepared again,    TRY_AGAIN",
    "1689, HY000, wait for a lock aborted,                 TRY_AGAIN",
    "3101, 40000, Group Replication rolled back,           TRY_AGAIN",
    // The server, its schema or the connection, with any rows.
    "0,    08S01, link broken,                             UNAVAILABLE",
    "0,    08001, cannot connect,                          UNAVAILABLE",
    "1021, HY000, disk full,                               UNAVAILABLE",
    "1030, HY000, error of the storage engine,             UNAVAILABLE",
    "1037, HY001, out of memory,                           UNAVAILABLE",
    "1040, 08004, too many connections,                    UNAVAILABLE",
    "1044, 42000, no right on the database,                UNAVAILABLE",
    "1045, 28000, wrong password,                          UNAVAILABLE",
    "1047, 08S01, node of a Galera cluster not ready,      UNAVAILABLE",
    "1053, 08S01, server shutdown in progress,             UNAVAILABLE",
    "1054, 42S22, unknown column,                          UNAVAILABLE",
    "1064, 42000, syntax error,                            UNAVAILABLE",
    "1114, HY000, table is full,                           UNAVAILABLE",
    "1146, 42S02, no such table,                           UNAVAILABLE",
    "1180, HY000, error during COMMIT,                     UNAVAILABLE",
    "1203, 42000, max_user_connections,                    UNAVAILABLE",
    "1226, 42000, user has exceeded a resource,            UNAVAILABLE",
    "1290, HY000, read_only,                               UNAVAILABLE",
    "1364, HY000, column without a default,                UNAVAILABLE",
    "1461, 42000, max_prepared_stmt_count,                 UNAVAILABLE",
    "1637, HY000, too many transactions,                   UNAVAILABLE",
    "1792, 25006, read-only transaction,                   UNAVAILABLE",
    "1836, HY000, read-only mode,                          UNAVAILABLE",
    "1927, 70100, connection killed (MariaDB),             UNAVAILABLE",
    "3098, HY000, table not fit for Group Replication,     UNAVAILABLE",
    "3169, HY000, session killed (MySQL),                  UNAVAILABLE",
    "4031, HY000, connection idle for too long (MySQL),    UNAVAILABLE"
  })
  void classifies(int code, String state, String meaning, SqlFailure expected) {
    SQLException error = new SQLException(meaning, state, code);

    assertThat(SqlFailure.of(error)).isEqualTo(expected);
    assertThat(SqlFailure.of(new DataAccessResourceFailureException("wrapped", error)))
        .isEqualTo(expected);
  }

  @Test
  void theDriversOwnLimitIsTheServersToo() {
    assertThat(SqlFailure.of(new PacketTooBigException(40_000, 32_768)))
        .isEqualTo(SqlFailure.STATEMENT);
  }

  /** An item whose row is locked, or whose COMMIT has no answer, ends no round. */
  @Test
  void onlyWithoutAConnectionAllItemsOfARoundWouldWait() {
    List<RuntimeException> away =
        List.of(
            new CannotCreateTransactionException("for the test"),
            new CannotGetJdbcConnectionException("for the test"),
            new DataAccessResourceFailureException("for the test"));
    List<RuntimeException> ofTheItem =
        List.of(
            new CannotAcquireLockException("for the test"),
            new DuplicateKeyException("for the test"),
            new TransactionSystemException("for the test"),
            new IllegalStateException("for the test"));

    away.forEach(e -> assertThatThrownBy(() -> SqlFailure.throwIfAway(e)).isSameAs(e));
    ofTheItem.forEach(SqlFailure::throwIfAway);
  }
}
