package io.seckill.gateway.backends;

import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The meaning of an error reply of Redis for the circuit breaker: the command is wrong, and others
 * would succeed, or this server cannot decide purchases now. Commands report their own errors with
 * few codes, so every other code (OOM, READONLY, MISCONF, LOADING, one of a later release) is a
 * state of the server.
 */
final class ErrorReply {

  private static final Set<String> CODES_OF_COMMANDS =
      Set.of("ERR", "WRONGTYPE", "CROSSSLOT", "NOSCRIPT", "EXECABORT", "BUSYKEY", "BUSYGROUP");

  /** Replies that begin like this have the code of commands, and are a state of the server. */
  private static final List<String> ERR_OF_SERVER =
      List.of(
          "ERR max number of clients",
          "ERR operation not permitted",
          "ERR invalid password",
          "ERR AUTH ",
          "ERR The user executing the script",
          "ERR unknown command",
          "ERR DB index is out of range");

  private static final Pattern CODE = Pattern.compile("[A-Z]{2,}\\b");

  private ErrorReply() {}

  /** Whether the server cannot decide purchases now; false for an exception without a reply. */
  static boolean isOfServer(Throwable failure) {
    String text = failure instanceof JedisDataException ? failure.getMessage() : null;
    if (text == null) {
      return false;
    }
    Matcher code = CODE.matcher(text);
    return code.lookingAt()
        && (!CODES_OF_COMMANDS.contains(code.group())
            || ERR_OF_SERVER.stream().anyMatch(text::startsWith));
  }

  /** Whether the server replied that this command is wrong, or the client did not send it. */
  static boolean isOfCommand(Throwable failure) {
    return failure instanceof JedisDataException && !isOfServer(failure);
  }
}
