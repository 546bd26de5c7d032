package io.seckill.testing;

import java.util.concurrent.CountDownLatch;

/**
 * Main class of the JVM that {@link NothingLeftBehindIT} kills: starts servers, prints its
 * directory and their ports, and waits to be killed.
 */
final class ServersOfAKilledJvm {

  private ServersOfAKilledJvm() {}

  public static void main(String[] args) throws InterruptedException {
    RedisServer redis = TestServers.redis();
    RabbitServer rabbit = TestServers.rabbit();
    MySqlServer mysql = MySqlServer.start();
    System.out.printf(
        "ready %s %d %d %d%n", RunDirectory.path(), redis.port(), rabbit.port(), mysql.port());
    new CountDownLatch(1).await();
  }
}
