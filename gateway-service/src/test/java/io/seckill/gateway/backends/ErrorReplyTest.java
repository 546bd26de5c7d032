package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class ErrorReplyTest {

  /** Replies of Redis and Valkey: row, what the reply is about, text. */
  private static final String REPLIES =
      """
      MAX_CLIENTS server ERR max number of clients reached
      MAX_CLIENTS server ERR max number of clients + cluster connections reached
      NOT_PERMITTED server ERR operation not permitted
      INVALID_PASSWORD server ERR invalid password
      NO_PASSWORD_SET server ERR AUTH <password> called without any password configured for the default user.
      USER_OF_SCRIPT server ERR The user executing the script can't run this command or subcommand script: 1
      UNKNOWN_COMMAND server ERR unknown command 'EVALSHA', with args beginning with: 'abc'
      NO_SUCH_DATABASE server ERR DB index is out of range
      ERR command ERR user_script:12: attempt to compare nil with number script: 0f, on @user_script:12.
      ERR command ERR value is not an integer or out of range
      ERR command ERR Error compiling script (new function): user_script:1: unexpected symbol
      WRONGTYPE command WRONGTYPE Operation against a key holding the wrong kind of value
      CROSSSLOT command CROSSSLOT Keys in request don't hash to the same slot
      NOSCRIPT command NOSCRIPT No matching script. Please use EVAL.
      EXECABORT command EXECABORT Transaction discarded because of previous errors.
      BUSYKEY command BUSYKEY Target key name already exists.
      BUSYGROUP command BUSYGROUP Consumer Group name already exists
      OOM server OOM command not allowed when used memory > 'maxmemory'.
      OOM server OOM command not allowed when used memory > 'maxmemory'. script: 0f, on @user_script:44.
      OOM server OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'
      READONLY server READONLY You can't write against a read only replica.
      READONLY server READONLY Can not run script with write flag on readonly replica.
      MISCONF server MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.
      MISCONF server MISCONF Errors writing to the AOF file: No space left on device
      NOREPLICAS server NOREPLICAS Not enough good replicas to write.
      LOADING server LOADING Redis is loading the dataset in memory
      BUSY server BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.
      UNKILLABLE server UNKILLABLE Sorry the script already executed write commands against the dataset.
      NOAUTH server NOAUTH Authentication required.
      NOPERM server NOPERM User gateway has no permissions to run the 'evalsha' command
      WRONGPASS server WRONGPASS invalid username-password pair or user is disabled.
      NOPROTO server NOPROTO unsupported protocol version
      DENIED server DENIED Redis is running in protected mode because protected mode is enabled
      CLUSTERDOWN server CLUSTERDOWN Hash slot not served
      CLUSTERDOWN server CLUSTERDOWN The cluster is down
      MASTERDOWN server MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.
      TRYAGAIN server TRYAGAIN Multiple keys request during rehashing of slot
      MOVED server MOVED 3999 127.0.0.1:6381
      ASK server ASK 3999 127.0.0.1:6381
      OTHER server REDIRECT 127.0.0.1:6381
      OTHER server IOERR error or timeout writing to target instance
      OTHER server ERRATIC a code of a later release
      """;

  static Stream<Arguments> replies() {
    return REPLIES
        .lines()
        .map(line -> line.split(" ", 3))
        .map(parts -> Arguments.of(ErrorReply.valueOf(parts[0]), parts[1], parts[2]));
  }

  @ParameterizedTest
  @MethodSource("replies")
  void saysWhetherTheCommandIsWrongOrTheServerCannotDecide(ErrorReply row, String of, String text) {
    JedisDataException reply = new JedisDataException(text);

    assertThat(ErrorReply.of(text)).isEqualTo(row);
    assertThat(ErrorReply.isOfServer(reply)).isEqualTo(of.equals("server"));
    assertThat(ErrorReply.isOfCommand(reply)).isEqualTo(of.equals("command"));
  }

  @Test
  void everyRowHasACase() {
    assertThat(replies().map(one -> one.get()[0]).distinct())
        .containsExactlyInAnyOrderElementsOf(Arrays.asList(ErrorReply.values()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"value sent to redis cannot be null", "A failure occurred", ""})
  void anExceptionOfTheClientIsOfTheCommand(String text) {
    assertThat(ErrorReply.isOfCommand(new JedisDataException(text))).isTrue();
    assertThat(ErrorReply.isOfServer(new JedisDataException(text))).isFalse();
  }

  @Test
  void aBrokenConnectionIsNoReply() {
    Throwable broken = new JedisConnectionException("OOM");
    assertThat(ErrorReply.isOfCommand(broken)).isFalse();
    assertThat(ErrorReply.isOfServer(broken)).isFalse();
  }
}
