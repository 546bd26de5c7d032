package io.seckill.system.faults;

import io.seckill.system.ServiceEnvironment;
import io.seckill.system.process.Service;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RabbitVhost;
import java.util.Map;
import redis.clients.jedis.UnifiedJedis;

/** The servers of a {@link PipelineLab}, with the settings of {@code deploy}. */
public interface Servers extends AutoCloseable {

  /** The links of one more process. */
  Links newLinks();

  /** The environment of a process with these links. */
  ServiceEnvironment environment(Links links, String jwtSecret, String internalToken);

  /** Settings that a service needs in addition, as environment variables; they come last. */
  Map<String, String> settings(Service service);

  /** The tests' own client of Redis, which uses no service and no service's link. */
  UnifiedJedis redisClient();

  /** The pipeline's database, the system of record, on the server that is written to. */
  MySqlDatabase database();

  /** The vhost of the pipeline's exchanges and queues, on a node that answers. */
  RabbitVhost vhost();

  /** Saves what RabbitMQ would lose at a kill -9 of its first second. */
  void putQueuesOnDisk();

  /** Ends every fault and restarts servers that have ended; returns when all answer. */
  void heal();

  @Override
  void close();
}
