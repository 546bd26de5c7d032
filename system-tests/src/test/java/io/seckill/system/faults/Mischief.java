package io.seckill.system.faults;

import io.seckill.testing.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * One way to hurt one thing, and how that ends.
 *
 * @param target what is hurt; it suffers one mischief at a time
 * @param name what is done to it
 * @param recovery how long the target is left alone after the end
 */
record Mischief(String target, String name, Runnable begin, Runnable end, Duration recovery) {

  private static final Duration AT_ONCE = Duration.ZERO;
  private static final Duration JVM_START = Duration.ofSeconds(15);
  private static final Duration SERVER_START = Duration.ofSeconds(4);
  private static final Duration BROKER_START = Duration.ofSeconds(15);

  /** Everything that a random schedule does to a lab; servers come up more often than links. */
  static List<Mischief> all(FaultLab lab) {
    List<Mischief> all = new ArrayList<>();
    for (ServiceInstance service : lab.all()) {
      all.addAll(to(service));
      all.addAll(to(service.name() + " to Redis", service.links().redis()));
    }
    for (int i = 0; i < 2; i++) {
      ServiceInstance relay = lab.relays().get(i);
      ServiceInstance consumer = lab.consumers().get(i);
      ServiceInstance gateway = lab.gateways().get(i);
      all.addAll(to(relay.name() + " to RabbitMQ", relay.links().rabbit()));
      all.addAll(to(consumer.name() + " to RabbitMQ", consumer.links().rabbit()));
      all.addAll(to(consumer.name() + " to MySQL", consumer.links().mysql()));
      all.addAll(to(gateway.name() + " to MySQL", gateway.links().mysql()));
    }
    for (int weight = 0; weight < 3; weight++) {
      all.addAll(toRedis(lab));
      all.addAll(toRabbit(lab));
      all.addAll(toMySql(lab));
    }
    return all;
  }

  private static List<Mischief> to(ServiceInstance service) {
    String name = service.name();
    List<Mischief> some = new ArrayList<>();
    some.add(new Mischief(name, "kill", service::kill, service::restart, JVM_START));
    some.add(new Mischief(name, "terminate", service::terminate, service::restart, JVM_START));
    some.add(new Mischief(name, "freeze", () -> freeze(service), service::thaw, AT_ONCE));
    return some;
  }

  private static void freeze(ServiceInstance service) {
    service.supervise();
    service.freeze();
  }

  private static List<Mischief> to(String link, TcpProxy proxy) {
    return List.of(
        new Mischief(link, "cut", proxy::cut, proxy::heal, AT_ONCE),
        new Mischief(link, "reset", proxy::reset, () -> {}, AT_ONCE),
        new Mischief(link, "lose answers", () -> proxy.dropToClient(true), proxy::heal, AT_ONCE),
        new Mischief(link, "lose requests", () -> proxy.dropToServer(true), proxy::heal, AT_ONCE),
        new Mischief(
            link, "delay", () -> proxy.delay(Duration.ofMillis(40)), proxy::heal, AT_ONCE));
  }

  private static List<Mischief> toRedis(FaultLab lab) {
    var redis = lab.servers().redis();
    CommandArguments flush = new CommandArguments(Command.SCRIPT).add("FLUSH");
    return List.of(
        new Mischief("Redis", "kill", redis::kill, redis::restart, SERVER_START),
        new Mischief("Redis", "freeze", redis::freeze, redis::thaw, AT_ONCE),
        new Mischief(
            "Redis",
            "forget scripts",
            () -> insist(() -> lab.redis().executeCommand(flush)),
            () -> {},
            AT_ONCE));
  }

  private static List<Mischief> toRabbit(FaultLab lab) {
    var rabbit = lab.servers().rabbit();
    return List.of(
        new Mischief("RabbitMQ", "kill", rabbit::kill, rabbit::restart, BROKER_START),
        new Mischief("RabbitMQ", "freeze", rabbit::freeze, rabbit::thaw, AT_ONCE),
        new Mischief(
            "RabbitMQ",
            "memory alarm",
            () -> insist(() -> rabbit.setMemoryWatermark(0.0000001)),
            () -> insist(() -> rabbit.setMemoryWatermark(0.4)),
            AT_ONCE),
        new Mischief(
            "RabbitMQ",
            "close connections",
            () -> insist(() -> rabbit.closeConnections("random schedule")),
            () -> {},
            AT_ONCE));
  }

  private static List<Mischief> toMySql(FaultLab lab) {
    var mysql = lab.servers().mysql();
    return List.of(
        new Mischief("MySQL", "kill", mysql::kill, mysql::restart, SERVER_START),
        new Mischief("MySQL", "freeze", mysql::freeze, mysql::thaw, AT_ONCE),
        new Mischief(
            "MySQL",
            "read-only",
            () -> insist(() -> mysql.setReadOnly(true)),
            () -> insist(() -> mysql.setReadOnly(false)),
            AT_ONCE));
  }

  /**
   * A server may refuse a command for what else is done at the time: a connection that was broken
   * before, one that ends while all are closed, a transaction whose owner is frozen. A second
   * command does no more than the first.
   */
  private static void insist(Runnable command) {
    Signals.awaitThat("a server to take a command", command::run);
  }
}
