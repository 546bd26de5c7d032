package io.seckill.system.faults;

import io.seckill.testing.DeployedSettings;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;

/**
 * Servers that only the fault tests use, to be killed and frozen, with the settings of {@code
 * deploy}.
 *
 * @param vhost vhost of the pipeline's exchanges and queues
 * @param database the pipeline's database, the system of record
 */
record LabServers(
    RedisServer redis,
    RabbitServer rabbit,
    MySqlServer mysql,
    RabbitVhost vhost,
    MySqlDatabase database)
    implements AutoCloseable {

  static LabServers start() {
    RedisServer redis = RedisServer.start(DeployedSettings.redis().toArray(String[]::new));
    RabbitServer rabbit = RabbitServer.start(DeployedSettings.rabbit().toArray(String[]::new));
    MySqlServer mysql = MySqlServer.start(DeployedSettings.mysql().toArray(String[]::new));
    return new LabServers(redis, rabbit, mysql, rabbit.newVhost(), mysql.newDatabase());
  }

  /** Returns the same servers with another Redis. */
  LabServers with(RedisServer other) {
    return new LabServers(other, rabbit, mysql, vhost, database);
  }

  /** Freezes all servers; {@link #heal()} resumes them. */
  void freeze() {
    redis.freeze();
    rabbit.freeze();
    mysql.freeze();
  }

  /** Resumes all servers and restarts those that have ended. */
  void heal() {
    redis.thaw();
    rabbit.thaw();
    mysql.thaw();
    if (!redis.isRunning()) {
      redis.restart();
    }
    if (!rabbit.isRunning()) {
      rabbit.restart();
    }
    if (!mysql.isRunning()) {
      mysql.restart();
    }
  }

  @Override
  public void close() {
    redis.close();
    rabbit.close();
    mysql.close();
  }
}
