package io.seckill.testing;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests one shared Redis, RabbitMQ and MySQL, as parameters of test classes and methods or
 * from the static methods.
 *
 * <p>A server starts when a test first requests it, is shared by all tests of the JVM, and ends
 * with the JVM, however that ends. Tests are isolated by {@link RedisServer#newDatabase()}, {@link
 * RabbitServer#newVhost()} and {@link MySqlServer#newDatabase()}. A test that kills or freezes a
 * server starts its own: {@link RedisServer#start}.
 *
 * <p>The system property {@code seckill.test.servers} chooses where they run: {@code processes}
 * (default) are child processes from the packages redis-server, rabbitmq-server and mariadb-server,
 * on free ports of 127.0.0.1; {@code containers} are containers of redis:8, rabbitmq:4-management
 * and mysql:9. Without Docker or one of these images, classes with this extension are skipped and
 * the reason is printed; a missing package is a failure.
 */
public final class TestServers implements ParameterResolver, ExecutionCondition {

  private static final SharedServer<RedisServer> REDIS =
      new SharedServer<>(RedisServer::startShared);
  private static final SharedServer<RabbitServer> RABBIT =
      new SharedServer<>(RabbitServer::startShared);
  private static final SharedServer<MySqlServer> MYSQL =
      new SharedServer<>(MySqlServer::startShared);
  private static final Set<Class<?>> TYPES =
      Set.of(RedisServer.class, RabbitServer.class, MySqlServer.class);

  /** Starts all three at the same time, for tests that need them all; returns at once. */
  public static void begin() {
    List.of(REDIS, RABBIT, MYSQL).forEach(server -> new Thread(server::get, "begin").start());
  }

  /** The shared Redis, started by the first call. For code that runs before parameter injection. */
  public static RedisServer redis() {
    return REDIS.get();
  }

  /** The shared RabbitMQ, started by the first call. */
  public static RabbitServer rabbit() {
    return RABBIT.get();
  }

  /** The shared MySQL or MariaDB, started by the first call. */
  public static MySqlServer mysql() {
    return MYSQL.get();
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    Optional<String> missing = Backend.current().missing();
    return missing
        .map(ConditionEvaluationResult::disabled)
        .orElseGet(() -> ConditionEvaluationResult.enabled("servers can be started"));
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return TYPES.contains(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    if (type == RedisServer.class) {
      return redis();
    }
    return type == RabbitServer.class ? rabbit() : mysql();
  }
}
