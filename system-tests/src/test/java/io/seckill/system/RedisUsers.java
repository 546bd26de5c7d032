package io.seckill.system;

import io.seckill.system.process.Service;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The users of {@code deploy/redis/users.acl} on a test server, so that services run with the
 * rights they get in production and no others. They live until that server stops.
 */
final class RedisUsers {

  private static final String PASSWORD = "of-the-system-tests";
  private static final Pattern PASSWORD_HASH = Pattern.compile("#@[A-Z]+@");
  private static final String SINCE_7_2 = "@SINCE_7_2@";

  private RedisUsers() {}

  /** Creates the user of every service, or sets it right. */
  static void install(UnifiedJedis redis) {
    List<String> rules = rules();
    for (Service service : Service.values()) {
      String user = name(service);
      String rule =
          rules.stream()
              .filter(line -> line.startsWith("user " + user + " "))
              .findFirst()
              .orElseThrow(() -> new IllegalStateException("users.acl has no user " + user));
      install(redis, PASSWORD_HASH.matcher(rule).replaceAll("#" + sha256(PASSWORD)));
    }
  }

  /** The address with the credentials of a service's user. */
  static String url(String redisUrl, Service service) {
    return redisUrl.replaceFirst("://", "://" + name(service) + ":" + PASSWORD + "@");
  }

  /** What users of that server asked for and may not, a text each, newest first. */
  static List<String> refusals(UnifiedJedis redis) {
    List<String> refusals = new ArrayList<>();
    for (Object entry : (List<?>) acl(redis, List.of("LOG"))) {
      refusals.add(text(entry));
    }
    return refusals;
  }

  private static void install(UnifiedJedis redis, String rule) {
    try {
      setUser(redis, rule.replace(SINCE_7_2, "+client|setinfo"));
    } catch (JedisDataException olderThan72) {
      setUser(redis, rule.replace(SINCE_7_2, ""));
    }
  }

  private static void setUser(UnifiedJedis redis, String rule) {
    List<String> words = new ArrayList<>(Arrays.asList(rule.strip().split("\\s+", -1)));
    words.set(0, "SETUSER");
    words.add(2, "reset");
    acl(redis, words);
  }

  private static Object acl(UnifiedJedis redis, List<String> words) {
    return redis.executeCommand(new CommandArguments(Command.ACL).addObjects(words));
  }

  /** A line per user: the template breaks them, Redis does not. */
  private static List<String> rules() {
    Path file = Path.of(System.getProperty("seckill.root"), "deploy", "redis", "users.acl");
    List<String> users = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith("user ")) {
          users.add(line);
        } else if (line.startsWith("  ")) {
          users.set(users.size() - 1, users.get(users.size() - 1) + line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return users;
  }

  private static String name(Service service) {
    return service.name().toLowerCase(Locale.ROOT);
  }

  private static String text(Object answer) {
    if (answer instanceof byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    return answer instanceof List<?> parts
        ? parts.stream().map(RedisUsers::text).toList().toString()
        : String.valueOf(answer);
  }

  private static String sha256(String password) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(password.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
