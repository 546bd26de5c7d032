package io.seckill.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Creates the users that {@code deploy/} ships on test servers, so that services run with exactly
 * the rights they have in production. The users exist until the server stops.
 */
public final class ShippedUsers {

  /** The password of all these users, on every server. */
  public static final String PASSWORD = "of-the-tests";

  private static final Path DEPLOY = Path.of(System.getProperty("seckill.root"), "deploy");
  private static final String SINCE_7_2 = "@SINCE_7_2@";

  private ShippedUsers() {}

  /**
   * Creates a user of {@code deploy/redis/users.acl}, or resets it to the rules of that file.
   *
   * @throws IllegalArgumentException when the file has no user of that name
   */
  public static void inRedis(UnifiedJedis redis, String user) {
    String rule =
        redisRules().stream()
            .filter(line -> line.startsWith("user " + user + " "))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException("users.acl has no user " + user));
    try {
      setRedisUser(redis, rule.replace(SINCE_7_2, "+client|setinfo"));
    } catch (JedisDataException olderThan72) {
      setRedisUser(redis, rule.replace(SINCE_7_2, ""));
    }
  }

  private static void setRedisUser(UnifiedJedis redis, String rule) {
    List<String> words = new ArrayList<>(Arrays.asList(rule.strip().split("\\s+", -1)));
    words.replaceAll(word -> word.startsWith("#") ? ">" + PASSWORD : word);
    words.set(0, "SETUSER");
    words.add(2, "reset");
    redis.executeCommand(new CommandArguments(Command.ACL).addObjects(words));
  }

  /** Joins the lines of each user: the template breaks them, Redis takes one line per user. */
  private static List<String> redisRules() {
    List<String> users = new ArrayList<>();
    for (String line : read("redis/users.acl").lines().toList()) {
      if (line.startsWith("user ")) {
        users.add(line);
      } else if (line.startsWith("  ")) {
        users.set(users.size() - 1, users.get(users.size() - 1) + line);
      }
    }
    return users;
  }

  /**
   * Creates a user with the permissions of {@code deploy/rabbitmq/definitions.json} for a vhost.
   *
   * @return the vhost's address with that user's credentials
   */
  public static String inRabbit(RabbitServer server, RabbitVhost vhost, String user) {
    String definitions = read("rabbitmq/definitions.json");
    String ofUser = definitions.substring(definitions.indexOf("\"user\": \"" + user + "\""));
    String name = user + "-" + vhost.name();
    server.management().putUser(name, PASSWORD);
    vhost.setPermissions(
        name,
        permission(ofUser, "configure"),
        permission(ofUser, "write"),
        permission(ofUser, "read"));
    return vhost
        .url()
        .replace(server.username() + ":" + server.password() + "@", name + ":" + PASSWORD + "@");
  }

  private static String permission(String json, String name) {
    int start = json.indexOf('"', json.indexOf("\"" + name + "\":") + name.length() + 3) + 1;
    return json.substring(start, json.indexOf('"', start)).replace("\\\\", "\\");
  }

  private static String read(String file) {
    try {
      return Files.readString(DEPLOY.resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
