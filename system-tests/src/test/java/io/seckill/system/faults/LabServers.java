package io.seckill.system.faults;

import io.seckill.testing.DeployedSettings;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;

/**
 * Servers of the fault tests' own, to be killed and frozen, set up as {@code deploy} sets them up.
 *
 * @param vhost where the pipeline's exchanges and queues are
 * @param database the ledger of record
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

  /** The same with another Redis. */
  LabServers with(RedisServer other) {
    return new LabServers(other, rabbit, mysql, vhost, database);
  }

  /** All at once stand still; {@link #heal()} ends it. */
  void freeze() {
    redis.freeze();
    rabbit.freeze();
    mysql.freeze();
  }

  /** Runs again, awake and with their defaults. */
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
