package io.seckill.system.faults;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.LoopDisk;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.awaitility.core.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * A fault: its target, how it begins, how its effect is observed, and how it ends.
 *
 * @param target process, link or server; it has one fault at a time
 * @param name what is done to the target
 * @param begin begins the fault and returns a check for its effect, to be called repeatedly
 * @param recovery how long the target has no other fault after the end
 */
public record Fault(
    String target, String name, Supplier<BooleanSupplier> begin, Runnable end, Duration recovery) {

  private static final Duration AT_ONCE = Duration.ZERO;
  private static final Duration JVM_START = Duration.ofSeconds(15);
  private static final Duration SERVER_START = Duration.ofSeconds(4);
  private static final Duration BROKER_START = Duration.ofSeconds(15);
  private static final Duration A_LITTLE = Duration.ofMillis(40);
  private static final int COPIES = 8;
  private static final int MOST_COPIED = 50;
  private static final String ORDER_QUEUES = "^seckill\\.orders\\.[0-3]$";

  /**
   * All faults of a random schedule; those of servers are listed more often than those of links.
   *
   * @param disk the disk of Redis, for the fault that fills it; null omits that fault
   */
  static List<Fault> all(FaultLab lab, SaleOffer sale, @Nullable LoopDisk disk) {
    List<Fault> all = new ArrayList<>();
    for (ServiceInstance service : lab.all()) {
      all.addAll(to(service));
      all.add(clock(lab, service, sale, Duration.ofHours(1), "clock an hour ahead"));
      all.add(clock(lab, service, sale, Duration.ofHours(-1), "clock an hour behind"));
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
      all.addAll(toRedis(lab, disk));
      all.addAll(toRabbit(lab, sale));
      all.addAll(toMySql(lab));
    }
    return all;
  }

  /** The fault of a target, as random schedules inject it. */
  static Fault of(FaultLab lab, String target, String name) {
    return all(lab, lab.plenty(), null).stream()
        .filter(fault -> fault.target.equals(target) && fault.name.equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static List<Fault> to(ServiceInstance service) {
    String name = service.name();
    return List.of(
        state(name, "kill", service::kill, () -> !service.isAlive(), service::restart, JVM_START),
        state(
            name,
            "terminate",
            service::terminate,
            () -> !service.isAlive(),
            service::restart,
            JVM_START),
        state(name, "freeze", () -> freeze(service), service::isFrozen, service::thaw, AT_ONCE));
  }

  private static void freeze(ServiceInstance service) {
    service.supervise();
    service.freeze();
  }

  private static Fault clock(
      FaultLab lab, ServiceInstance service, SaleOffer sale, Duration shift, String name) {
    return state(
        service.name(),
        name,
        () -> {
          service.supervise();
          shift(service, shift);
        },
        () ->
            Duration.between(Instant.now().plus(shift), lab.timeOfDay(service, sale))
                    .abs()
                    .toMinutes()
                < 1,
        () -> shift(service, Duration.ZERO),
        AT_ONCE);
  }

  /**
   * A process that has ended by itself, as when MySQL is unavailable, has no clock to shift; after
   * a restart its clock is correct.
   */
  private static void shift(ServiceInstance service, Duration shift) {
    try {
      service.agent().shiftClock(shift);
    } catch (RuntimeException e) {
      if (service.isAlive()) {
        throw e;
      }
    }
  }

  private static List<Fault> to(String link, TcpProxy proxy) {
    return List.of(
        counted(link, "cut", proxy::cut, proxy::resetConnections, proxy::heal),
        counted(link, "reset", proxy::reset, proxy::resetConnections, Fault::nothing),
        counted(
            link, "lose answers", () -> proxy.dropToClient(true), proxy::droppedBytes, proxy::heal),
        counted(
            link,
            "lose requests",
            () -> proxy.dropToServer(true),
            proxy::droppedBytes,
            proxy::heal),
        counted(link, "delay", () -> proxy.delay(A_LITTLE), proxy::delayedBytes, proxy::heal));
  }

  private static List<Fault> toRedis(FaultLab lab, @Nullable LoopDisk disk) {
    RedisServer redis = lab.servers().redis();
    CommandArguments flush = new CommandArguments(Command.SCRIPT).add("FLUSH");
    List<Fault> some = new ArrayList<>(to("Redis", redis, SERVER_START));
    some.add(
        counted(
            "Redis",
            "forget scripts",
            () -> insist(() -> lab.redis().executeCommand(flush)),
            () -> errorReplies(lab, "NOSCRIPT"),
            Fault::nothing));
    some.add(
        counted(
            "Redis",
            "memory full",
            () -> insist(() -> lab.redis().configSet("maxmemory", "1mb")),
            () -> errorReplies(lab, "OOM"),
            () -> insist(() -> lab.redis().configSet("maxmemory", "0"))));
    if (disk != null) {
      some.add(
          state(
              "Redis",
              "disk full",
              () -> insist(disk::fill),
              () -> !redis.isRunning(),
              () -> {
                insist(disk::makeRoom);
                redis.restart();
              },
              SERVER_START));
    }
    return some;
  }

  /** Number of replies with that error since Redis started, to all clients. */
  private static long errorReplies(FaultLab lab, String error) {
    return lab.redis()
        .info("errorstats")
        .lines()
        .filter(line -> line.startsWith("errorstat_" + error + ":count="))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
        .sum();
  }

  private static List<Fault> toRabbit(FaultLab lab, SaleOffer sale) {
    RabbitServer rabbit = lab.servers().rabbit();
    List<Fault> some = new ArrayList<>(to("RabbitMQ", rabbit, BROKER_START));
    some.add(
        risen(
            "memory alarm",
            () -> insist(() -> rabbit.setMemoryWatermark(0.0000001)),
            lab.relays(),
            "seckill_relay_blocked_seconds_total",
            () -> insist(() -> rabbit.setMemoryWatermark(0.4))));
    some.add(
        new Fault("RabbitMQ", "close connections", () -> closed(rabbit), Fault::nothing, AT_ONCE));
    some.add(
        risen(
            "unbind a queue",
            () -> insist(() -> unbind(lab, sale)),
            lab.relays(),
            "seckill_relay_returns_total",
            Fault::nothing));
    some.add(
        state(
            "RabbitMQ",
            "delete the exchange",
            () -> insist(() -> deleteExchange(lab)),
            () -> lab.relays().stream().anyMatch(Fault::isFailing),
            Fault::nothing,
            AT_ONCE));
    some.add(
        risen(
            "queues full",
            () ->
                insist(
                    () ->
                        lab.servers()
                            .vhost()
                            .setPolicy("full", ORDER_QUEUES, "{\"max-length\":1}")),
            lab.relays(),
            "seckill_relay_nacks_total",
            () -> insist(() -> lab.servers().vhost().clearPolicy("full"))));
    some.add(
        risen(
            "orders again, eight times",
            () -> insist(() -> publishAgain(lab, sale)),
            lab.consumers(),
            "seckill_consumer_duplicates_total",
            Fault::nothing));
    some.add(
        counted(
            "RabbitMQ",
            "bad messages",
            () -> insist(() -> publish(lab, sale, CraftedMessages.bad(sale))),
            () -> lab.database().number("SELECT COUNT(*) FROM dead_letter"),
            Fault::nothing));
    return some;
  }

  /** Closes all connections; the check is true once none of them is open. */
  private static BooleanSupplier closed(RabbitServer rabbit) {
    Set<String> open = new HashSet<>();
    insist(() -> open.addAll(rabbit.connections()));
    insist(() -> rabbit.closeConnections("random schedule"));
    return () -> !open.isEmpty() && Collections.disjoint(open, rabbit.connections());
  }

  private static boolean isFailing(ServiceInstance relay) {
    return relay.sum("seckill_relay_lane_state", "state=\"broker_unavailable\"") > 0;
  }

  private static void unbind(FaultLab lab, SaleOffer sale) throws Exception {
    try (BrokerClient broker = new BrokerClient(lab.servers())) {
      int partition = Partition.ofSku(sale.skuId());
      broker
          .channel()
          .queueUnbind(
              BrokerTopology.orderQueue(partition % BrokerTopology.ORDER_QUEUES),
              BrokerTopology.ORDERS_EXCHANGE,
              BrokerTopology.routingKey(partition));
    }
  }

  private static void deleteExchange(FaultLab lab) throws Exception {
    try (BrokerClient broker = new BrokerClient(lab.servers())) {
      broker.channel().exchangeDelete(BrokerTopology.ORDERS_EXCHANGE);
    }
  }

  private static void publishAgain(FaultLab lab, SaleOffer sale) throws Exception {
    List<String> messages = new ArrayList<>();
    List<OrderMessage> admitted = CraftedMessages.admitted(lab.redis(), sale);
    for (OrderMessage order : admitted.subList(0, Math.min(MOST_COPIED, admitted.size()))) {
      for (int copy = 0; copy < COPIES; copy++) {
        messages.add(OrderMessageCodec.encode(order));
      }
    }
    publish(lab, sale, messages);
  }

  private static void publish(FaultLab lab, SaleOffer sale, List<String> messages)
      throws Exception {
    try (BrokerClient broker = new BrokerClient(lab.servers())) {
      for (String message : messages) {
        broker.publish(Partition.ofSku(sale.skuId()), message);
      }
    }
  }

  private static List<Fault> toMySql(FaultLab lab) {
    MySqlServer mysql = lab.servers().mysql();
    List<Fault> some = new ArrayList<>(to("MySQL", mysql, SERVER_START));
    some.add(
        state(
            "MySQL",
            "read-only",
            () -> insist(() -> mysql.setReadOnly(true)),
            () -> lab.database().number("SELECT @@global.read_only") == 1,
            () -> insist(() -> mysql.setReadOnly(false)),
            AT_ONCE));
    return some;
  }

  private static List<Fault> to(String name, TestServer server, Duration start) {
    return List.of(
        state(name, "kill", server::kill, () -> !server.isRunning(), server::restart, start),
        state(name, "freeze", server::freeze, server::isFrozen, server::thaw, AT_ONCE));
  }

  /** A fault whose effect is a state. */
  public static Fault state(
      String target,
      String name,
      Runnable begin,
      BooleanSupplier isSo,
      Runnable end,
      Duration recovery) {
    return new Fault(
        target,
        name,
        () -> {
          begin.run();
          return isSo;
        },
        end,
        recovery);
  }

  /** A fault whose effect increases a count. */
  private static Fault counted(
      String target, String name, Runnable begin, LongSupplier count, Runnable end) {
    return new Fault(
        target,
        name,
        () -> {
          long before = insistOn(count);
          begin.run();
          return () -> count.getAsLong() > before;
        },
        end,
        AT_ONCE);
  }

  /** A fault of RabbitMQ whose effect increases a meter of a service. */
  private static Fault risen(
      String name, Runnable begin, List<ServiceInstance> services, String meter, Runnable end) {
    return new Fault(
        "RabbitMQ",
        name,
        () -> {
          Map<ServiceInstance, Double> before = new HashMap<>();
          services.forEach(one -> read(one, meter).ifPresent(count -> before.put(one, count)));
          begin.run();
          return () ->
              before.entrySet().stream()
                  .anyMatch(one -> read(one.getKey(), meter).orElse(0) > one.getValue());
        },
        end,
        AT_ONCE);
  }

  /** Empty while the service does not answer. */
  private static OptionalDouble read(ServiceInstance service, String meter) {
    try {
      return OptionalDouble.of(service.sum(meter));
    } catch (UncheckedIOException e) {
      return OptionalDouble.empty();
    }
  }

  /** The end of a fault that ends by itself. */
  private static void nothing() {}

  private static long insistOn(LongSupplier count) {
    long[] answer = new long[1];
    insist(() -> answer[0] = count.getAsLong());
    return answer[0];
  }

  /**
   * Repeats a command until it succeeds. A server may refuse it because of other faults: a
   * connection that was broken before, one that ends while all are closed, a transaction whose
   * owner is frozen. Repeating a command has no further effect.
   */
  private static void insist(ThrowingRunnable command) {
    Signals.awaitThat("a server to take a command", command);
  }
}
