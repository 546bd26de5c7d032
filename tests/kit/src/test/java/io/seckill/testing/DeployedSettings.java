package io.seckill.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The server settings that we ship, read from {@code deploy/}; they put durability first. Each list
 * is an argument of the {@code start} method of its server.
 */
public final class DeployedSettings {

  private static final Path DEPLOY = Path.of(System.getProperty("seckill.root"), "deploy");

  private DeployedSettings() {}

  /** Lines of redis.conf. */
  public static List<String> redis() {
    return lines("redis/redis.conf");
  }

  /**
   * Lines of redis.conf for a primary with replicas, without the login at the primary, which {@link
   * RedisReplicaSet} adds.
   */
  public static List<String> redisHa() {
    return Stream.concat(
            redis().stream(),
            lines("redis/ha.conf").stream().filter(line -> !line.startsWith("master")))
        .toList();
  }

  /** As {@link #redisHa()}, for the nodes of a cluster that waits for no replica. */
  public static List<String> redisCluster() {
    return Stream.concat(
            redis().stream(),
            lines("redis/cluster.conf").stream()
                .filter(line -> !line.startsWith("master"))
                .map(line -> line.replace("@WAIT@", "0")))
        .toList();
  }

  /** Lines of sentinel.conf, to monitor this primary. */
  static List<String> sentinel(RedisServer primary) {
    return lines("redis/sentinel.conf").stream()
        .map(line -> line.replace("@HOST@", primary.host()))
        .map(line -> line.replace("@PORT@", Integer.toString(primary.port())))
        .map(line -> line.replace("@PASSWORD@", ShippedUsers.PASSWORD))
        .toList();
  }

  /**
   * Lines of the section [mysqld], followed by the section [mariadb] with its header; not those of
   * the HA form.
   */
  public static List<String> mysql() {
    return lines("mysql/my.cnf").stream()
        .filter(line -> !line.equals("[mysqld]"))
        .takeWhile(line -> !line.equals("[mariadb-ha]"))
        .toList();
  }

  /** As {@link #mysql()}, with the lines of the HA form. */
  public static List<String> mysqlHa() {
    return lines("mysql/my.cnf").stream()
        .filter(line -> !line.equals("[mysqld]") && !line.equals("[mariadb-ha]"))
        .toList();
  }

  /** Lines of rabbitmq.conf. */
  public static List<String> rabbit() {
    return lines("rabbitmq/rabbitmq.conf");
  }

  /**
   * Lines of rabbitmq.conf, followed by those of the HA form; the names of the nodes are missing.
   */
  public static List<String> rabbitCluster() {
    return Stream.of(rabbit(), lines("rabbitmq/cluster.conf")).flatMap(List::stream).toList();
  }

  /** Lines of a file below {@code deploy/} that are no comments. */
  static List<String> lines(String file) {
    try {
      return Files.readAllLines(DEPLOY.resolve(file)).stream()
          .map(String::strip)
          .filter(line -> !line.isEmpty() && !line.startsWith("#"))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
