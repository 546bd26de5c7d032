package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.OwnRedis;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.TcpProxy;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AdmissionFaultsIT extends OwnRedis {

  AdmissionFaultsIT() {
    super(TestGateway.shippedTimes());
  }

  @Test
  @DisplayName("A purchase whose reply from Redis was lost is admitted (facts.md 3, fault 2)")
  void givesTheFirstAnswerWhenTheAnswerOfRedisWasLost() {
    TestSale sale = TestSale.unlimited(redis, 10);
    awaitAdmitted(sale, 1, "key-0001");

    link.dropToClient(true);
    GatewayAnswer lost = gateway.buy(7, sale.sku(), 1, "key-0007");
    link.heal();
    link.reset();

    assertThat(lost.status()).isEqualTo(503);
    assertThat(lost.body()).contains("ADMISSION_UNAVAILABLE");
    assertThat(lost.header("Retry-After")).isNotEmpty();
    assertThat(lost.header("Idempotency-Key")).isEqualTo("key-0007");
    awaitAdmitted(sale, 7, "key-0007");
    assertThat(sale.outbox()).extracting(OrderMessage::userId).containsExactly(1L, 7L);
    assertThat(sale.stock()).isEqualTo(8);
  }

  @Test
  @DisplayName(
      "While Redis is frozen: 503, no more threads or queued calls; then recovery"
          + " (facts.md 41, fault 6)")
  void answersWhileRedisIsFrozenAndRecovers() {
    TestSale sale = TestSale.unlimited(redis, 1_000);
    gateway.buy(1, sale.sku(), 1, "key-0001");
    int threads = Thread.activeCount();

    server.freeze();
    assertUnavailable(sale, 25);
    assertThat(Thread.activeCount())
        .as("less than one for two calls: pools start some of theirs at their first task")
        .isLessThan(threads + 12);
    assertThat(depth()).isZero();
    server.thaw();

    eventually().until(() -> admits(sale, 5_000));
    assertThat(transitions("open")).isPositive();
  }

  @Test
  @DisplayName("While Redis is down: 503; no accepted order is lost after kill -9 (fault 6)")
  void answersWhileRedisIsDeadAndLosesNoAcceptedOrder() {
    TestSale sale = TestSale.unlimited(redis, 1_000);
    database.sale(sale.sku(), "OPEN", 1, 0);
    for (int user = 1; user <= 20; user++) {
      awaitAdmitted(sale, user, "key-0001");
    }

    server.kill();
    assertUnavailable(sale, 25);
    restart();

    eventually().until(() -> admits(sale, 5_000));
    assertThat(sale.outbox().stream().filter(order -> order.requestId().equals("key-0001")))
        .hasSize(20);
  }

  @Test
  void answersBeforeASlowRedisDoes() {
    TestSale sale = TestSale.unlimited(redis, 1_000);
    gateway.buy(1, sale.sku(), 1, "key-0001");

    link.delay(Duration.ofMillis(400));
    assertUnavailable(sale, 10);
    link.heal();

    eventually().until(() -> admits(sale, 5_000));
  }

  @Test
  @DisplayName(
      "A full Redis changes nothing, repeats get their first answer (facts.md 1 and 6, fault 4)")
  void leavesNothingHalfDoneWhenRedisIsFull() {
    TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 5, 10);
    String first = awaitAdmitted(sale, 1, "key-0001").body();

    redis.configSet("maxmemory", "1mb");
    assertUnavailable(sale, 1);
    long heldUntilMs = leaseEndMs();
    eventually("leases to be renewed").until(() -> leaseEndMs() > heldUntilMs);
    assertThat(awaitAdmitted(sale, 1, "key-0001").body()).isEqualTo(first);
    redis.configSet("maxmemory", "0");

    assertThat(sale.stock()).isEqualTo(9);
    assertThat(sale.quota(1_000)).isNull();
    assertThat(sale.outbox()).hasSize(1);
    assertThat(sale.counter("seq")).isEqualTo(1);
    awaitAdmitted(sale, 2, "key-0001");
  }

  @Test
  @DisplayName("An empty Redis sells nothing until it is rebuilt (fault 7)")
  void holdsASaleThatRedisHasLost() {
    TestSale sale = TestSale.unlimited(redis, 1_000);
    TestSale other = TestSale.open(redis, 1_002, PurchasePolicy.UNLIMITED, 0, 10);
    database.sale(sale.sku(), "OPEN", 1, 0);
    database.sale(other.sku(), "CLOSED", 1, 0);
    awaitAdmitted(sale, 1, "key-0001");
    database.sale(sale.sku(), "OPEN", 1, 1);

    server.wipe();
    restart();

    eventually().until(() -> verified());
    GatewayAnswer held = gateway.buy(1, sale.sku(), 1, "key-0001");
    assertThat(held.status()).isEqualTo(503);
    assertThat(held.body())
        .as("an unknown outcome is not a refusal")
        .contains("ADMISSION_UNAVAILABLE");
    eventually() // the partitions are verified one after the other
        .until(() -> gateway.buy(1, other.sku(), 1, "key-0001").status() == 404);

    database.sale(sale.sku(), "OPEN", 2, 1);
    TestSale.unlimited(redis, 999).with("epoch", 2).with("seq", 1);
    eventually().until(() -> admits(sale, 5_000));
  }

  @Test
  @DisplayName("A sale that is older in Redis than in MySQL sells nothing; others go on (fault 7)")
  void holdsASaleWhoseSequenceIsBehindMySql() {
    TestSale behind = TestSale.unlimited(redis, 1_000).with("seq", 5);
    TestSale older = TestSale.open(redis, 1_002, PurchasePolicy.UNLIMITED, 0, 10).with("epoch", 2);
    TestSale closed = TestSale.open(redis, 1_003, PurchasePolicy.UNLIMITED, 0, 10);
    TestSale good = TestSale.open(redis, 1_004, PurchasePolicy.UNLIMITED, 0, 10).with("seq", 7);
    database.sale(behind.sku(), "OPEN", 1, 6);
    database.sale(older.sku(), "OPEN", 3, 0);
    database.sale(closed.sku(), "CLOSED", 1, 0);
    database.sale(good.sku(), "OPEN", 1, 7);

    restart();

    eventually().until(() -> admits(good, 5_000));
    for (TestSale sale : List.of(behind, older, closed)) {
      GatewayAnswer held = gateway.buy(1, sale.sku(), 1, "key-0001");
      assertThat(held.status()).as(held.body()).isEqualTo(503);
      assertThat(sale.outbox()).isEmpty();
    }
    behind.with("seq", 6);
    eventually().until(() -> admits(behind, 5_000));
  }

  @Test
  void noticesWithoutARestartThatMySqlKnowsMore() {
    TestSale sale = TestSale.unlimited(redis, 1_000);
    database.sale(sale.sku(), "OPEN", 1, 0);
    awaitAdmitted(sale, 1, "key-0001");

    database.sale(sale.sku(), "OPEN", 1, 50);

    eventually().until(() -> gateway.buy(1, sale.sku(), 1, "key-0001").status() == 503);
    eventually().until(() -> gateway.gauge("seckill.quarantined.skus") == 1);
  }

  @Test
  void decidesNothingOnRestoredDataWhileMySqlCannotBeAsked(MySqlServer mysql) throws IOException {
    gateway.close();
    try (TcpProxy toMySql = TcpProxy.to(mysql)) {
      gateway = database.via(toMySql).gateway("redis://127.0.0.1:" + link.port());
      TestSale sale = TestSale.unlimited(redis, 1_000);
      toMySql.cut();
      assertThat(gateway.buy(1, sale.sku(), 1, "key-0001").status())
          .as("a sale under way does not need MySQL")
          .isEqualTo(202);

      restart();
      for (int i = 0; i < 20; i++) {
        assertThat(gateway.buy(2, sale.sku(), 1, "key-0001").status()).isEqualTo(503);
      }
      assertThat(sale.outbox()).hasSize(1);

      toMySql.heal();
      eventually().until(() -> admits(sale, 5_000));
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("A running sale does not need MySQL, however long MySQL hangs")
  void goesOnAdmittingWhileMySqlHangsForLongerThanTheWorkerLease() throws IOException {
    gateway.close();
    gateway = newGateway();
    TestSale sale = TestSale.unlimited(redis, 1_000_000);
    Closeable lock = database.lockProducts();
    try {
      eventually().until(database::isWaitedFor);
      long hungMs = leaseEndMs();
      long leaseMs = WorkerLeases.DURATION.toMillis();
      for (int i = 0; leaseEndMs() < hungMs + leaseMs; i++) {
        GatewayAnswer answer = gateway.buy(1, sale.sku(), 1, "key-number-" + i);
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
      }
      eventually()
          .until(database::isWaitedFor); // a comparison that MySQL leaves unanswered is repeated
    } finally {
      lock.close();
    }
  }

  /** Returns when the lease ends, by Redis's clock; each renewal postpones it. */
  private long leaseEndMs() {
    return redis.hvals(RedisKeys.workers(0)).stream()
        .mapToLong(value -> Long.parseLong(value.split("\\|", -1)[1]))
        .max()
        .orElseThrow();
  }

  @Test
  void answersBusyAtOnceWhenTheQueueIsFullAndTakesNothing() throws Exception {
    gateway.close();
    gateway =
        newGateway(
            "seckill.admission.threads=1",
            "seckill.admission.max-batch=1",
            "seckill.admission.queue-capacity=1");
    TestSale sale = TestSale.unlimited(redis, 1_000);
    gateway.buy(1, sale.sku(), 1, "key-0001");
    server.freeze();
    ExecutorService shoppers = Executors.newFixedThreadPool(12);
    List<Future<GatewayAnswer>> answers = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int user = 10 + i;
      answers.add(shoppers.submit(() -> gateway.buy(user, sale.sku(), 1, "key-0001")));
    }
    eventually().until(() -> answers.stream().anyMatch(Future::isDone));
    server.thaw();
    List<String> busy = new ArrayList<>();
    for (Future<GatewayAnswer> future : answers) {
      GatewayAnswer answer = Bounded.get(future);
      if (answer.body().contains("\"code\":\"BUSY\"")) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.header("Retry-After")).isNotEmpty();
        assertThat(answer.body())
            .as("the outcome of an earlier attempt with the same key is unknown")
            .containsIgnoringCase("repeat with the same idempotency key")
            .doesNotContain("nothing was taken");
        busy.add(answer.body());
      }
    }
    shoppers.shutdown();

    assertThat(busy).isNotEmpty();
    assertThat(sale.outbox().size())
        .as("a purchase answered BUSY takes nothing")
        .isLessThanOrEqualTo(13 - busy.size());
  }

  /** Sends the purchases one after the other; each must be answered, with 503. */
  private void assertUnavailable(TestSale sale, int purchases) {
    for (int i = 0; i < purchases; i++) {
      GatewayAnswer answer = gateway.buy(1_000 + i, sale.sku(), 1, "key-0009");
      assertThat(answer.status()).as(answer.body()).isEqualTo(503);
    }
  }

  private boolean admits(TestSale sale, long user) {
    return gateway.buy(user, sale.sku(), 1, "key-0010").status() == 202;
  }

  /** Repeats the purchase until it is admitted. */
  private GatewayAnswer awaitAdmitted(TestSale sale, long user, String key) {
    return eventually()
        .until(() -> gateway.buy(user, sale.sku(), 1, key), answer -> answer.status() == 202);
  }

  private boolean verified() {
    VerifiedServers servers = gateway.bean(VerifiedServers.class);
    return TestSale.replicationId(redis).equals(servers.replicationId(0));
  }

  private double depth() {
    return gateway.bean(MeterRegistry.class).get("seckill.queue.depth").gauges().stream()
        .mapToDouble(gauge -> gauge.value())
        .sum();
  }

  private double transitions(String to) {
    return gateway.counter("seckill.breaker.transitions", "to", to);
  }
}
