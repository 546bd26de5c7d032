package io.seckill.gateway.backends;

import java.util.Arrays;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The meaning of an error reply of Redis for the circuit breaker: the command is wrong, and others
 * would succeed, or this server cannot decide purchases now. The first row whose text begins the
 * reply counts. Commands report their own errors with few codes, so a code that is not in the table
 * is a state of the server.
 */
enum ErrorReply {
  MAX_CLIENTS("ERR max number of clients", true),
  NOT_PERMITTED("ERR operation not permitted", true),
  INVALID_PASSWORD("ERR invalid password", true),
  NO_PASSWORD_SET("ERR AUTH", true),
  USER_OF_SCRIPT("ERR The user executing the script", true),
  UNKNOWN_COMMAND("ERR unknown command", true),
  NO_SUCH_DATABASE("ERR DB index is out of range", true),
  ERR("ERR", false),
  WRONGTYPE("WRONGTYPE", false),
  CROSSSLOT("CROSSSLOT", false),
  NOSCRIPT("NOSCRIPT", false),
  EXECABORT("EXECABORT", false),
  BUSYKEY("BUSYKEY", false),
  BUSYGROUP("BUSYGROUP", false),
  OOM("OOM", true),
  READONLY("READONLY", true),
  MISCONF("MISCONF", true),
  NOREPLICAS("NOREPLICAS", true),
  LOADING("LOADING", true),
  BUSY("BUSY", true),
  UNKILLABLE("UNKILLABLE", true),
  NOAUTH("NOAUTH", true),
  NOPERM("NOPERM", true),
  WRONGPASS("WRONGPASS", true),
  NOPROTO("NOPROTO", true),
  DENIED("DENIED", true),
  CLUSTERDOWN("CLUSTERDOWN", true),
  MASTERDOWN("MASTERDOWN", true),
  TRYAGAIN("TRYAGAIN", true),
  MOVED("MOVED", true),
  ASK("ASK", true),
  /** Every other code. */
  OTHER("", true);

  private final String start;
  private final boolean isOfServer;

  ErrorReply(String start, boolean isOfServer) {
    this.start = start;
    this.isOfServer = isOfServer;
  }

  /** Whether the server cannot decide purchases now; false for an exception without a reply. */
  static boolean isOfServer(Throwable failure) {
    String text = failure instanceof JedisDataException ? failure.getMessage() : null;
    return text != null && text.matches("(?s)[A-Z]{2,}\\b.*") && of(text).isOfServer;
  }

  /** Whether the server replied that this command is wrong, or the client did not send it. */
  static boolean isOfCommand(Throwable failure) {
    return failure instanceof JedisDataException && !isOfServer(failure);
  }

  static ErrorReply of(String text) {
    return Arrays.stream(values()).filter(row -> row.begins(text)).findFirst().orElse(OTHER);
  }

  private boolean begins(String text) {
    return text.startsWith(start)
        && (text.length() == start.length() || !Character.isLetter(text.charAt(start.length())));
  }
}
