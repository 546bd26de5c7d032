package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class StoreDownTest {

  @ParameterizedTest
  @CsvSource({
    "08S01, 0, true", // communications link failure
    "08001, 0, true", // connection refused
    "08004, 1040, true", // too many connections
    "42000, 1203, true", // the user has too many connections, by max_user_connections
    "42000, 1226, true", // the same, by a limit of the user
    "08S01, 1053, true", // shutdown in progress
    "70100, 1317, true", // query interrupted
    "70100, 1927, true", // connection was killed
    "40001, 1205, true", // the tables are locked
    "42S02, 1146, false", // no such table
    "42S22, 1054, false", // no such column
    "42000, 1064, false", // syntax
    "42000, 1142, false", // no right
    "HY000, 1366, false",
    "22012, 1365, false", // division by zero
    ", 0, false",
  })
  void aWrongStatementIsNoFault(String state, int code, boolean isDown) {
    assertThat(StoreDown.isSaidBy(new SQLException("said so", state, code))).isEqualTo(isDown);
  }

  @ParameterizedTest
  @CsvSource({
    "LOADING Redis is loading the dataset in memory, true",
    "MASTERDOWN Link with MASTER is down, true",
    "CLUSTERDOWN The cluster is down, true",
    "OOM command not allowed, true",
    "WRONGTYPE Operation against a key, false",
    "ERR Error running script, false",
    "CROSSSLOT Keys in request don't hash to the same slot, false",
  })
  void aWrongCommandIsNoFault(String reply, boolean isDown) {
    assertThat(StoreDown.isSaidBy(new JedisDataException(reply))).isEqualTo(isDown);
  }

  @Test
  void aMissingRightIsNoFault() {
    assertThat(StoreDown.isSaidBy(new JedisAccessControlException("NOPERM no permission")))
        .isFalse();
  }

  @Test
  void aLostLinkIsAFault() {
    assertThat(StoreDown.isSaidBy(new JedisConnectionException("reset"))).isTrue();
  }
}
