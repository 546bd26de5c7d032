package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.Answer;
import io.seckill.testing.DeployedSettings;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * A store restarts without data that it had acknowledged, and a reconciliation repairs the sales.
 * Orders that were only in Redis are lost and counted; MySQL's guards still hold.
 */
@Tag("proof")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class DataLossIT {

  private final FaultLab lab;

  DataLossIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("7: Redis empty")
  void redisEmpty() {
    RedisServer redis = lab.servers().redis();
    try (FaultRun run = lab.longRun("7 Redis empty").begin(700)) {
      losesRedis(
          run,
          () -> {
            redis.wipe();
            redis.restart();
          },
          "Redis came back empty");
    }
  }

  @Test
  @DisplayName("7: Redis older than MySQL")
  void redisOlderThanMySql() throws IOException {
    RedisServer redis = lab.servers().redis();
    try (FaultRun run = lab.longRun("7 Redis older than MySQL").begin(300);
        SavedFolder backup = SavedFolder.ofRedis(lab.redis())) {
      awaitMySqlAheadOf(run.sales());
      losesRedis(
          run,
          () -> {
            redis.kill();
            backup.restore();
            redis.restart();
          },
          "Redis came back as it was some hundred orders ago");
    }
  }

  @Test
  @DisplayName("8: replica promoted while lagging")
  void replicaPromotedWhileLagging() throws IOException {
    try (Replica replica = new Replica();
        FaultRun run = lab.longRun("8 replica promoted while lagging")) {
      replica.awaitInStep();
      run.begin(300);
      replica.lag();
      awaitMySqlAheadOf(run.sales());
      run.load().awaitAccepted(run.load().accepted() + 600);
      replica.assertMissedSomething();
      losesRedis(run, replica::promote, "a replica was promoted that lagged by 600 orders");
    }
  }

  /**
   * MySQL has no record of the lost orders, but the gateways have: they received Redis's replies. A
   * gateway that received none waits for MySQL.
   */
  @Test
  @DisplayName("8: replica promoted while lagging, with the consumers frozen")
  void replicaPromotedWhileLaggingAndMySqlKnowsNothing() throws IOException, SQLException {
    try (Replica replica = new Replica();
        FaultRun run = lab.longRun("8 replica promoted while lagging, consumers frozen")) {
      replica.awaitInStep();
      run.begin(300);
      lab.consumers().forEach(ServiceInstance::freeze);
      run.load().awaitAccepted(run.load().accepted() + 200);
      replica.awaitAdmissions(run.sales());
      replica.lag();
      run.load().awaitAccepted(run.load().accepted() + 600);
      replica.assertMissedSomething();
      Set<String> onlyInRedis = stopsAtRedis(run);
      LostSales lost = new LostSales(lab, run);
      replica.promote();
      assertMySqlIsBehind(run.sales());
      lab.servers().heal();
      lab.relays().forEach(ServiceInstance::heal);
      lab.gateways().forEach(ServiceInstance::heal);
      run.fault("a replica was promoted that lagged by 600 orders, consumers frozen");
      lost.stayClosed();
      lab.gateway(1).kill();
      lab.gateway(1).restart();
      lab.gateway(1).awaitReady();
      lost.stayClosed();
      lab.heal();
      lost.rebuild();
      run.judge(LostSales.guarantees(mayBeMissing(onlyInRedis)), List.of());
    }
  }

  /** Compared with MySQL, the promoted Redis has lost nothing. */
  private void assertMySqlIsBehind(List<SaleOffer> sales) throws SQLException {
    for (SaleOffer sale : sales) {
      assertThat(lab.sales().storedSeq(sale.skuId()))
          .as("admissions of %s that MySQL knows of", sale)
          .isLessThan(lab.sales().admissionSeq(sale.skuId()));
    }
  }

  /** A replica of Redis with its own link; it can be made to lag, and be promoted. */
  private final class Replica implements AutoCloseable {

    private final TcpProxy link = TcpProxy.to(lab.servers().redis());
    private final RedisServer server =
        RedisServer.start(DeployedSettings.redis().toArray(String[]::new));
    private final UnifiedJedis client =
        RedisClient.create("redis://" + server.host() + ":" + server.port());
    private boolean promoted;

    /**
     * Uses the command, not the configuration file: otherwise it would be a replica again after a
     * restart.
     */
    Replica() throws IOException {
      replicaOf(link.host(), "" + link.port());
    }

    private void replicaOf(String... master) {
      CommandArguments arguments = new CommandArguments(Command.REPLICAOF);
      for (String word : master) {
        arguments.add(word);
      }
      client.executeCommand(arguments);
    }

    void awaitInStep() {
      Signals.await("the replica to be in step", this::isInStep);
    }

    private boolean isInStep() {
      String state = client.info("replication") + client.info("persistence");
      return state.contains("master_link_status:up") && state.contains("aof_rewrite_in_progress:0");
    }

    /** Waits until the replica has all admissions that Redis has now. */
    void awaitAdmissions(List<SaleOffer> sales) {
      for (SaleOffer sale : sales) {
        long seq = lab.sales().admissionSeq(sale.skuId());
        Signals.await("the replica to have " + seq + " of " + sale, () -> seqOf(sale) >= seq);
      }
    }

    private long seqOf(SaleOffer sale) {
      String seq = client.hget(RedisKeys.sku(sale.skuId()), "seq");
      return seq == null ? 0 : Long.parseLong(seq);
    }

    /** Drops everything that is sent to the replica from now on. */
    void lag() {
      link.dropToClient(true);
    }

    void assertMissedSomething() {
      assertThat(link.droppedBytes()).as("bytes that did not reach the replica").isPositive();
    }

    /**
     * Kills the master for good; the replica continues with its data, under a new replication id.
     */
    void promote() {
      String history = replication("master_replid");
      lab.servers().redis().kill();
      replicaOf("NO", "ONE");
      assertThat(replication("role")).isEqualTo("master");
      assertThat(replication("master_replid")).as("its replication id").isNotEqualTo(history);
      assertThat(replication("master_replid2")).as("its former replication id").isEqualTo(history);
      lab.failOverTo(server);
      promoted = true;
    }

    private String replication(String field) {
      return client
          .info("replication")
          .lines()
          .filter(line -> line.startsWith(field + ":"))
          .map(line -> line.substring(field.length() + 1))
          .findFirst()
          .orElseThrow();
    }

    @Override
    public void close() {
      client.close();
      link.close();
      if (!promoted) {
        server.close();
      }
    }
  }

  /**
   * Waits until MySQL shows that the older Redis has lost data, even to a gateway without knowledge
   * of its own.
   */
  private void awaitMySqlAheadOf(List<SaleOffer> sales) {
    Map<SaleOffer, Long> seqs = new LinkedHashMap<>();
    for (SaleOffer sale : sales) {
      seqs.put(sale, lab.sales().admissionSeq(sale.skuId()));
    }
    seqs.forEach(
        (sale, seq) ->
            Signals.await(
                "MySQL to have later orders of " + sale,
                () -> lab.sales().storedSeq(sale.skuId()) > seq));
  }

  /**
   * Lets orders accumulate in Redis's lists, cuts all services off from Redis, determines the
   * orders that are only there, loses them, and rebuilds the sales.
   */
  private void losesRedis(FaultRun run, Runnable loss, String fault) {
    lab.relays().forEach(relay -> relay.links().redis().cut());
    lab.gateway(1).links().rabbit().cut(); // so that its orders stay in Redis on any channel
    run.load().awaitAccepted(run.load().accepted() + 200);
    // A loss is detected only as far as MySQL is ahead; orders in the broker are not lost.
    Signals.await("MySQL to have what was published", () -> run.inBroker() == 0);
    Set<String> onlyInRedis = stopsAtRedis(run);
    assertThat(onlyInRedis).isNotEmpty();
    LostSales lost = new LostSales(lab, run);
    loss.run();
    lab.heal();
    run.fault(fault + "; " + onlyInRedis.size() + " orders were nowhere else");
    lost.stayClosed();
    lost.rebuild();
    run.judge(LostSales.guarantees(mayBeMissing(onlyInRedis)), List.of());
    lost.assertRepeatsGetTheirOrders();
  }

  /**
   * Cuts all services off from Redis, and waits for the answers to what it has decided; returns the
   * orders that are only there.
   */
  private Set<String> stopsAtRedis(FaultRun run) {
    run.load().expectLoss();
    lab.relays().forEach(relay -> relay.links().redis().cut());
    lab.gateways().forEach(gateway -> gateway.links().redis().cut());
    lab.consumers().forEach(consumer -> consumer.links().redis().cut());
    run.load().awaitAnswers();
    return run.sales().stream().collect(HashSet::new, this::collect, Set::addAll);
  }

  private void collect(Set<String> ids, SaleOffer sale) {
    int partition = Partition.ofSku(sale.skuId());
    List<String> lists = new ArrayList<>(List.of(RedisKeys.outbox(partition)));
    lab.redis()
        .zrange(RedisKeys.lanes(partition), 0, -1)
        .forEach(member -> lists.add(RedisKeys.privateQueue(partition, member)));
    for (String list : lists) {
      lab.redis().lrange(list, 0, -1).forEach(message -> ids.add(PrivateQueues.orderId(message)));
    }
  }

  /** What is promised only after the broker's confirm must not be missing. */
  private Set<String> mayBeMissing(Set<String> onlyInRedis) {
    return lab.channel().isDirect() ? Set.of() : onlyInRedis;
  }

  @Test
  @DisplayName("18: broker data lost")
  void brokerDataLost() {
    losesRabbit("18 broker data lost");
  }

  /** Orders in the broker are lost while shoppers pay for those that MySQL has. */
  void losesRabbit(String row) {
    var rabbit = lab.servers().rabbit();
    double before = sentAgain();
    try (FaultRun run = lab.run(row).begin(200)) {
      lab.consumers().forEach(consumer -> consumer.links().rabbit().cut());
      Signals.await("orders to lie in the broker", () -> run.ordersInBroker() > 500);
      rabbit.wipe();
      rabbit.restart();
      lab.servers().vhost().recreate();
      lab.heal();
      run.fault("RabbitMQ came back without its data, with 500 orders among it");
      run.load().lastCall();
      Signals.await(
          "the rest to be stored", () -> run.load().isServed() && run.waitingInRedis() == 0);
      run.sales().forEach(this::reconcile);
      assertThat(sentAgain())
          .as("orders that were found missing and sent again")
          .isGreaterThan(before);
      // Shoppers cancel meanwhile, and a reconciliation may be faster than the compensation.
      run.judge(Explained.NOTHING.withRepairs("ORDER_SENT_AGAIN", "COMPENSATION_REPLAYED"));
    } finally {
      rabbit.putQueuesOnDisk();
    }
  }

  /** A scheduled reconciliation may have run before this call. */
  private void reconcile(SaleOffer sale) {
    Signals.awaitThat(
        "a reconciliation of " + sale,
        () -> {
          Answer answer = lab.admin().reconcile(sale.skuId());
          assertThat(answer.text("outcome")).as("%s", answer).isIn("CLEAN", "REPAIRED");
        });
  }

  private double sentAgain() {
    return ServiceInstance.sum(
        lab.consumers(), "seckill_consumer_repairs_total", "kind=\"ORDER_SENT_AGAIN\"");
  }
}
