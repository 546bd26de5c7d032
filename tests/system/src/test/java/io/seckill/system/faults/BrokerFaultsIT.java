package io.seckill.system.faults;

import static io.seckill.testing.Eventually.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.Partition;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of RabbitMQ, of its limits and of its topology. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class BrokerFaultsIT {

  private static final String ORDER_QUEUES = "^seckill\\.orders\\.[0-3]$";

  private final FaultLab lab;
  private final RabbitServer rabbit;

  BrokerFaultsIT(FaultLab lab) {
    this.lab = lab;
    this.rabbit = lab.servers().rabbit();
  }

  @Test
  @DisplayName("17: broker restarted under load")
  void restarted() {
    try (FaultRun run = lab.run("17 broker restarted").begin(500)) {
      Map<TcpProxy, Long> before = new HashMap<>();
      users().forEach(link -> before.put(link, link.acceptedConnections()));
      rabbit.restart();
      Signals.await(
          "all relays and consumers to connect again",
          () -> users().stream().allMatch(link -> link.acceptedConnections() > before.get(link)));
      run.fault("RabbitMQ restarted");
      run.judge();
    }
  }

  /** The links of relays and consumers to RabbitMQ. */
  private List<TcpProxy> users() {
    return Stream.concat(lab.relays().stream(), lab.consumers().stream())
        .map(service -> service.links().rabbit())
        .toList();
  }

  @Test
  @DisplayName("20: binding missing")
  void bindingMissing() throws Exception {
    try (FaultRun run = lab.run("20 binding missing").begin(200);
        BrokerClient broker = new BrokerClient(lab.servers())) {
      int partition = Partition.ofSku(run.sale(3).skuId());
      String queue = BrokerTopology.orderQueue(partition % BrokerTopology.ORDER_QUEUES);
      double before = returns();
      broker
          .channel()
          .queueUnbind(queue, BrokerTopology.ORDERS_EXCHANGE, BrokerTopology.routingKey(partition));
      run.load().awaitAccepted(PipelineLab.PURCHASES * 5 / 12);
      run.fault("queue unbound; orders returned and kept");
      run.judge();
      assertThat(returns()).as("returned orders").isGreaterThan(before);
    }
  }

  /** The queues are empty when they are deleted; row 18 covers the loss of messages. */
  @Tag("proof")
  @Test
  @DisplayName("20: queue missing")
  void queueMissing() throws Exception {
    try (FaultRun run = lab.run("20 queue missing").begin(200);
        BrokerClient broker = new BrokerClient(lab.servers())) {
      lab.relays().forEach(owner -> owner.links().rabbit().cut());
      Signals.await("the queues to be empty", () -> run.inBroker() == 0);
      lab.consumers().forEach(ServiceInstance::freeze); // otherwise they would declare them at once
      for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
        broker.channel().queueDelete(BrokerTopology.orderQueue(i));
      }
      Signals.await("the queues to be gone", () -> orderQueues() == 0);
      run.fault("all four order queues deleted");
      lab.relays().forEach(owner -> owner.links().rabbit().heal());
      Signals.await("relays to declare them", () -> orderQueues() == BrokerTopology.ORDER_QUEUES);
      lab.consumers().forEach(ServiceInstance::thaw);
      run.judge();
    } finally {
      rabbit.putQueuesOnDisk();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("31: delivery held beyond the broker's time-out")
  void deliveryHeldBeyondTheTimeout() {
    try (FaultRun run = lab.run("31 delivery held beyond the time-out")) {
      deliveryTimeout(2_000, 500);
      run.begin(200);
      ServiceInstance consumer = lab.activeConsumer();
      consumer.agent().arm(Failpoints.BEFORE_ACK, PointAction.PAUSE, 1);
      consumer.agent().awaitReached(Failpoints.BEFORE_ACK, SOON);
      run.load().awaitAccepted(1_200); // at ten a second in the end, many seconds of them
      run.load().lastCall();
      Signals.await("others to settle what was held", () -> run.inBroker() == 0);
      run.fault("acks held until the broker delivered to the other consumer");
      consumer.agent().release(Failpoints.BEFORE_ACK);
      run.judge();
    } finally {
      deliveryTimeout(1_800_000, 60_000);
    }
  }

  /**
   * Consumers lose their connection repeatedly with the same orders unacknowledged. No consumer
   * reaches the shipped limit of a million deliveries; a limit of 2 shows its effect.
   */
  @Tag("proof")
  @Test
  @DisplayName("31: orders given back more often than the delivery limit")
  void deliveryLimit() {
    double before = droppedByBroker();
    try (FaultRun run = lab.run("31 delivery limit reached");
        RowLock held = lab.database().lock("LOCK TABLES products WRITE, orders WRITE")) {
      lab.servers().vhost().setPolicy("limit", ORDER_QUEUES, "{\"delivery-limit\":2}");
      try {
        run.begin(200);
        Signals.await(
            "the broker to give up on orders",
            () -> {
              if (run.inConsumers() > 0) {
                lab.consumers().forEach(consumer -> consumer.links().rabbit().reset());
              }
              return lab.servers().vhost().queueDepth(BrokerTopology.DEAD_QUEUE).total() > 0;
            });
      } finally {
        lab.servers().vhost().clearPolicy("limit");
      }
      held.release();
      Signals.await("dead letters in MySQL, and counted", () -> droppedByBroker() > before);
      run.load().lastCall();
      Signals.await(
          "all other orders to be stored, and all dead letters to be in MySQL",
          () ->
              run.load().isServed()
                  && run.waitingInRedis() == 0
                  && run.inBroker() == 0
                  && lab.servers().vhost().queueDepth(BrokerTopology.DEAD_QUEUE).total() == 0);
      List<Long> deadLetters =
          lab.database()
              .rows(
                  "SELECT id FROM dead_letter"
                      + " WHERE reason = 'DROPPED_BY_BROKER' AND state = 'OPEN'",
                  row -> row.getLong(1));
      assertThat(deadLetters).as("orders that the broker dropped").isNotEmpty();
      for (long letter : deadLetters) {
        Signals.await("a replay", () -> lab.admin().replay(letter).status() == 200);
      }
      run.fault(deadLetters.size() + " orders dropped at the delivery limit; replayed");
      run.judge();
    }
  }

  private double droppedByBroker() {
    return ServiceInstance.sum(
        lab.consumers(), "seckill_consumer_dead_letters_total", "reason=\"DROPPED_BY_BROKER\"");
  }

  /** Applies to channels opened from now on, so the consumers' connections are reset. */
  private void deliveryTimeout(int timeoutMs, int tickMs) {
    rabbit.eval("application:set_env(rabbit, consumer_timeout, " + timeoutMs + ").");
    rabbit.eval("application:set_env(rabbit, channel_tick_interval, " + tickMs + ").");
    lab.consumers().forEach(consumer -> consumer.links().rabbit().reset());
  }

  private long orderQueues() {
    Set<String> queues = lab.servers().vhost().queues();
    return IntStream.range(0, BrokerTopology.ORDER_QUEUES)
        .filter(i -> queues.contains(BrokerTopology.orderQueue(i)))
        .count();
  }

  private double returns() {
    return sum("seckill_relay_returns_total");
  }

  private double sum(String meter, String... labels) {
    return ServiceInstance.sum(lab.relays(), meter, labels);
  }
}
