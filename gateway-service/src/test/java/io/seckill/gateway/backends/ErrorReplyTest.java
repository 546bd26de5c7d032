package io.seckill.gateway.backends;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class ErrorReplyTest {

  /** Replies of Redis and Valkey: what the reply is about, text. */
  private static final String REPLIES =
      """
      server ERR max number of clients reached
      server ERR max number of clients + cluster connections reached
      server ERR operation not permitted
      server ERR invalid password
      server ERR AUTH <password> called without any password configured for the default user.
      server ERR The user executing the script can't run this command or subcommand script: 1
      server ERR unknown command 'EVALSHA', with args beginning with: 'abc'
      server ERR DB index is out of range
      command ERR user_script:12: attempt to compare nil with number script: 0f, on @user_script:12.
      command ERR value is not an integer or out of range
      command ERR Error compiling script (new function): user_script:1: unexpected symbol
      command WRONGTYPE Operation against a key holding the wrong kind of value
      command CROSSSLOT Keys in request don't hash to the same slot
      command NOSCRIPT No matching script. Please use EVAL.
      command EXECABORT Transaction discarded because of previous errors.
      command BUSYKEY Target key name already exists.
      command BUSYGROUP Consumer Group name already exists
      server OOM command not allowed when used memory > 'maxmemory'.
      server OOM command not allowed when used memory > 'maxmemory'. script: 0f, on @user_script:44.
      server OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'
      server READONLY You can't write against a read only replica.
      server READONLY Can not run script with write flag on readonly replica.
      server MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.
      server MISCONF Errors writing to the AOF file: No space left on device
      server NOREPLICAS Not enough good replicas to write.
      server LOADING Redis is loading the dataset in memory
      server BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.
      server UNKILLABLE Sorry the script already executed write commands against the dataset.
      server NOAUTH Authentication required.
      server NOPERM User gateway has no permissions to run the 'evalsha' command
      server WRONGPASS invalid username-password pair or user is disabled.
      server NOPROTO unsupported protocol version
      server DENIED Redis is running in protected mode because protected mode is enabled
      server CLUSTERDOWN Hash slot not served
      server CLUSTERDOWN The cluster is down
      server MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.
      server TRYAGAIN Multiple keys request during rehashing of slot
      server MOVED 3999 127.0.0.1:6381
      server ASK 3999 127.0.0.1:6381
      server REDIRECT 127.0.0.1:6381
      server IOERR error or timeout writing to target instance
      server ERRATIC a code of a later release
      """;

  static Stream<Arguments> replies() {
    return REPLIES
        .lines()
        .map(line -> line.split(" ", 2))
        .map(parts -> Arguments.of(parts[0], parts[1]));
  }

  @ParameterizedTest
  @MethodSource("replies")
  void saysWhetherTheCommandIsWrongOrTheServerCannotDecide(String of, String text) {
    JedisDataException reply = new JedisDataException(text);

    assertThat(ErrorReply.isOfServer(reply)).isEqualTo(of.equals("server"));
    assertThat(ErrorReply.isOfCommand(reply)).isEqualTo(of.equals("command"));
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
