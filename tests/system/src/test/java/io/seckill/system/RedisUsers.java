package io.seckill.system;

import io.seckill.system.process.Service;
import io.seckill.testing.ShippedUsers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.KeyValue;

/** The shipped Redis users of the services, and the accesses that they were denied. */
final class RedisUsers {

  private RedisUsers() {}

  /** Creates the user of every service, or resets it to its shipped rules. */
  static void install(UnifiedJedis redis) {
    for (Service service : Service.values()) {
      ShippedUsers.inRedis(redis, name(service));
    }
  }

  /** The URL with the credentials of a service's user. */
  static String url(String redisUrl, Service service) {
    return redisUrl.replaceFirst("://", "://" + name(service) + ":" + ShippedUsers.PASSWORD + "@");
  }

  /** Accesses that the server denied to its users, one text each, newest first. */
  static List<String> refusals(UnifiedJedis redis) {
    List<String> refusals = new ArrayList<>();
    for (Object entry : (List<?>) acl(redis, List.of("LOG"))) {
      refusals.add(text(entry));
    }
    return refusals;
  }

  private static Object acl(UnifiedJedis redis, List<String> words) {
    return redis.executeCommand(new CommandArguments(Command.ACL).addObjects(words));
  }

  private static String name(Service service) {
    return service.name().toLowerCase(Locale.ROOT);
  }

  private static String text(Object answer) {
    if (answer instanceof byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    if (answer instanceof KeyValue<?, ?> field) { // of RESP3
      return text(field.getKey()) + "=" + text(field.getValue());
    }
    return answer instanceof List<?> parts
        ? parts.stream().map(RedisUsers::text).toList().toString()
        : String.valueOf(answer);
  }
}
