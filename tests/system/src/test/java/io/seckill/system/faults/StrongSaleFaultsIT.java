package io.seckill.system.faults;

import static io.seckill.testing.Eventually.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults under strong sales: of what they need, and of what they must not need. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class StrongSaleFaultsIT {

  private static final String UNDECIDED = "seckill_unknown_total";
  private static final String UNKNOWN = "ADMISSION_UNAVAILABLE";
  private static final String LATENCY = "seckill_admission_latency_seconds";
  private static final String STRONG_LATENCY = "seckill_strong_latency_seconds";
  private static final int CUTS = 20;

  /** A session of a frozen client is ended after 15 s; the rest is for a busy machine. */
  private static final Duration FROM_FREEZE_TO_SALE = Duration.ofSeconds(60);

  private final FaultLab lab;
  private final MySqlServer mysql;

  StrongSaleFaultsIT(FaultLab lab) {
    this.lab = lab;
    this.mysql = lab.servers().mysql();
  }

  @Test
  @DisplayName("62: MySQL killed in mid-sale, and back")
  void mySqlKilled() {
    try (FaultRun run = lab.runStrong("62 MySQL killed in mid-sale").begin(300)) {
      run.during(Fault.of(lab, "MySQL", "kill"), () -> awaitNoYes(run));
      run.judge();
    }
  }

  /**
   * The gateways' own connections to MySQL are frozen as well; neither sale waits for them. At a
   * load that one busy processor can carry, as in {@link #goesOnWithout}. Redis's breaker opens for
   * a second or two after a stall of the machine, with or without MySQL: so purchases decided in a
   * row are awaited, which never come if some of them need MySQL, and no other cause is excused.
   */
  @Tag("proof")
  @Test
  @DisplayName("63: MySQL frozen: the strong sale is answered in time, other sales go on")
  void mySqlFrozen() throws SQLException {
    Duration over = Duration.ofSeconds(12);
    try (FaultRun run = lab.runStrong("63 MySQL frozen", 1_200, over).begin(200);
        FaultRun other = lab.run("63 MySQL frozen, a sale of Redis", 2_400, over)) {
      other.begin(0);
      awaitAcceptedInARow(other, 200);
      double forOtherCauses = undecidedNotForRedis();
      mysql.freeze();
      double decided = decided();
      double inTime = decidedInTime();
      awaitNoYes(run);
      awaitAcceptedInARow(other, 600);
      assertThat(undecidedNotForRedis())
          .as("purchases of Redis's sales undecided for want of anything but Redis")
          .isEqualTo(forOtherCauses);
      run.load().awaitAnswers();
      assertThat(run.load().unanswered()).as("purchases without an answer").isZero();
      other.share(
          "of purchases of a sale of Redis decided within 300 ms while MySQL is frozen",
          100 * (decidedInTime() - inTime) / (decided() - decided),
          99);
      run.fault("MySQL frozen");
      other.fault("MySQL frozen; 600 purchases in a row accepted meanwhile");
      mysql.thaw();
      run.judge();
      other.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("64: connections to MySQL cut, twenty times")
  void connectionsCut() {
    try (FaultRun run = lab.runStrong("64 connections to MySQL cut").begin(200)) {
      for (int cut = 0; cut < CUTS; cut++) {
        int accepted = run.load().accepted();
        for (ServiceInstance consumer : lab.consumers()) {
          TcpProxy link = consumer.links().mysql();
          Signals.await("connections to cut", () -> link.openConnections() > 0);
          long before = link.resetConnections();
          link.reset();
          assertThat(link.resetConnections()).as("connections cut").isGreaterThan(before);
        }
        run.load().awaitAccepted(accepted + 5);
      }
      run.fault("all connections of both consumers to MySQL cut twenty times; sold on after each");
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("65: lock wait: a second session holds the product")
  void lockWait() {
    try (FaultRun run = lab.runStrong("65 lock wait").begin(100);
        RowLock lock = run.lockProduct(3)) {
      SaleOffer held = run.sale(3);
      Set<String> before = run.acceptedOrders(held);
      int others = run.load().accepted();
      run.load().awaitAccepted(others + 200); // of the other sales
      assertThat(stored(held)).as("orders of the held product").containsAll(before);
      lock.release();
      run.fault("product locked while 200 others were bought");
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("66: order-consumer killed after COMMIT, before the answer; the other one answers")
  void killedAfterCommit() throws SQLException {
    try (FaultRun run = lab.runStrong("66 order-consumer killed after COMMIT").begin(200)) {
      ServiceInstance consumer = lab.consumer(1);
      Set<String> unanswered = Set.of();
      while (unanswered.isEmpty()) { // a batch may be of repeats alone
        consumer.agent().arm(Failpoints.STRONG_COMMITTED, PointAction.PAUSE, 1);
        consumer.agent().awaitReached(Failpoints.STRONG_COMMITTED, SOON);
        unanswered = storedAndUnanswered(run);
        if (unanswered.isEmpty()) {
          consumer.agent().release(Failpoints.STRONG_COMMITTED);
        }
      }
      consumer.kill();
      run.fault(consumer.name() + " killed with " + unanswered.size() + " orders unanswered");
      awaitAnswered(run, unanswered);
      run.judge();
    }
  }

  private Set<String> storedAndUnanswered(FaultRun run) throws SQLException {
    Set<String> unanswered = stored(run);
    unanswered.removeAll(run.acceptedOrders());
    return unanswered;
  }

  private static void awaitAnswered(FaultRun run, Set<String> orders) {
    Signals.await(
        "the other consumer to answer the repeats with these orders",
        () -> run.acceptedOrders().containsAll(orders));
  }

  @Tag("proof")
  @Test
  @DisplayName("67: order-consumer frozen in mid-transaction, then awake")
  void consumerFrozenInMidTransaction() {
    try (FaultRun run = lab.runStrong("67 order-consumer frozen in mid-transaction").begin(100)) {
      ServiceInstance consumer = lab.consumer(1);
      consumer.agent().arm(Failpoints.STRONG_BEFORE_COMMIT, PointAction.PAUSE, 1);
      consumer.agent().awaitReached(Failpoints.STRONG_BEFORE_COMMIT, SOON);
      consumer.freeze();
      run.fault(consumer.name() + " frozen with an open transaction");
      long since = System.nanoTime();
      int accepted = run.load().accepted();
      run.load().awaitAccepted(accepted + 600);
      assertThat(Duration.ofNanos(System.nanoTime() - since))
          .as("time until the other one sells")
          .isLessThan(FROM_FREEZE_TO_SALE);
      consumer.thaw();
      consumer.agent().release(Failpoints.STRONG_BEFORE_COMMIT);
      run.fault(consumer.name() + " awake, with a batch that others have bought again");
      run.judge();
      assertThat(consumer.isAlive()).isTrue();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("67: order-consumer meets an exception and an Error while it decides")
  void consumerThrows() {
    try (FaultRun run = lab.runStrong("67 order-consumer throws").begin(100)) {
      ServiceInstance consumer = lab.consumer(1);
      for (String point : List.of(Failpoints.STRONG_BEFORE_COMMIT, Failpoints.STRONG_COMMITTED)) {
        for (PointAction action : List.of(PointAction.THROW, PointAction.ERROR)) {
          int accepted = run.load().acceptedAt(0);
          consumer.agent().arm(point, action, 1);
          consumer.agent().awaitReached(point, SOON);
          run.fault(consumer.name() + ": " + action + " at " + point);
          Signals.await("purchases after it", () -> run.load().acceptedAt(0) > accepted + 20);
        }
      }
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("68: COMMIT outcome unknown: its answer is lost, and then the COMMIT itself")
  void commitOutcomeUnknown() {
    try (FaultRun run = lab.runStrong("68 COMMIT outcome unknown").begin(100)) {
      ServiceInstance consumer = lab.consumer(1);
      TcpProxy link = consumer.links().mysql();
      losesACommit(run, consumer, () -> link.dropToClient(true));
      run.fault("answer to a COMMIT of " + consumer.name() + " lost");
      link.heal();
      int accepted = run.load().acceptedAt(0);
      Signals.await("purchases after it", () -> run.load().acceptedAt(0) > accepted + 50);
      losesACommit(run, consumer, () -> link.dropToServer(true));
      run.fault("COMMIT of " + consumer.name() + " lost");
      link.heal();
      run.judge();
    }
  }

  private void losesACommit(FaultRun run, ServiceInstance consumer, Runnable loss) {
    TcpProxy link = consumer.links().mysql();
    consumer.agent().arm(Failpoints.STRONG_BEFORE_COMMIT, PointAction.PAUSE, 1);
    consumer.agent().awaitReached(Failpoints.STRONG_BEFORE_COMMIT, SOON);
    loss.run();
    long before = link.droppedBytes();
    int unknown = run.load().problems(UNKNOWN);
    consumer.agent().release(Failpoints.STRONG_BEFORE_COMMIT);
    Signals.await("the link to lose bytes", () -> link.droppedBytes() > before);
    run.load().awaitProblems(UNKNOWN, unknown + 1);
    link.reset();
  }

  @Tag("proof")
  @Test
  @DisplayName("69: answers between order-consumer and gateway lost, and requests")
  void callLost() {
    try (FaultRun run = lab.runStrong("69 call to order-consumer lost").begin(200)) {
      TcpProxy link = lab.consumerLink(1);
      for (boolean answers : List.of(true, false)) {
        long before = link.droppedBytes();
        int unknown = run.load().problems(UNKNOWN);
        if (answers) {
          link.dropToClient(true);
        } else {
          link.dropToServer(true);
        }
        Signals.await("bytes to be lost", () -> link.droppedBytes() > before);
        run.load().awaitProblems(UNKNOWN, unknown + 40);
        run.fault((answers ? "answers to" : "requests of") + " gateway-1 lost");
        link.reset();
        link.heal();
        int accepted = run.load().acceptedAt(0);
        Signals.await("gateway-1 to sell again", () -> run.load().acceptedAt(0) > accepted + 20);
      }
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("71: Redis killed: no purchase, payment or cancel of a strong sale fails")
  void goesOnWithoutRedis() {
    goesOnWithout("71 Redis killed", "Redis killed", () -> lab.servers().redis().kill());
  }

  @Tag("proof")
  @Test
  @DisplayName("71: RabbitMQ killed: no purchase, payment or cancel of a strong sale fails")
  void goesOnWithoutRabbit() {
    goesOnWithout("71 RabbitMQ killed", "RabbitMQ killed", () -> lab.servers().rabbit().kill());
  }

  /** A purchase that waited for the dead server would be late; a few are on a busy machine, too. */
  private void goesOnWithout(String row, String fault, Runnable kill) {
    try (FaultRun run = lab.runStrong(row, 1_000, Duration.ofSeconds(10)).begin(300)) {
      double elsewhere = undecidedBut("consumer");
      double late = sum(UNDECIDED, "cause=\"consumer\"");
      double decided = sum(STRONG_LATENCY + "_count");
      int unanswered = run.load().unanswered();
      kill.run();
      run.load().lastCall();
      Signals.await("all to be served, paid and cancelled", () -> run.load().isDone());
      assertThat(undecidedBut("consumer"))
          .as("purchases undecided for want of anything but order-consumer")
          .isEqualTo(elsewhere);
      assertThat(run.load().unanswered()).as("purchases unanswered").isEqualTo(unanswered);
      double percentLate =
          100
              * (sum(UNDECIDED, "cause=\"consumer\"") - late)
              / (sum(STRONG_LATENCY + "_count") - decided);
      run.share("of purchases decided in time: " + fault, 100 - percentLate, 100);
      assertThat(percentLate).as("%% that order-consumer did not decide").isLessThan(50);
      run.fault(fault + "; all others of 1 000 purchases decided meanwhile");
      run.judge();
    }
  }

  /**
   * Purchases left undecided but for these causes. Of one answer of each gateway: between two, more
   * of them may be counted.
   */
  private double undecidedBut(String... causes) {
    return lab.gateways().stream()
        .map(gateway -> gateway.metrics(UNDECIDED))
        .mapToDouble(
            metrics ->
                metrics.sum(UNDECIDED)
                    - Stream.of(causes)
                        .mapToDouble(cause -> metrics.sum(UNDECIDED, "cause=\"" + cause + "\""))
                        .sum())
        .sum();
  }

  /** Waits until that many purchases are accepted while none is left undecided or unanswered. */
  private static void awaitAcceptedInARow(FaultRun run, int purchases) {
    AtomicInteger problems = new AtomicInteger(-1);
    AtomicInteger since = new AtomicInteger();
    Signals.await(
        purchases + " purchases accepted in a row",
        () -> {
          LoadGenerator load = run.load();
          int accepted = load.accepted();
          int now = load.problems(UNKNOWN) + load.problems("BUSY") + load.unanswered();
          if (problems.getAndSet(now) != now) {
            since.set(accepted);
          }
          return accepted - since.get() >= purchases;
        });
  }

  /** Undecided purchases of all sales, without those of strong sales and those for Redis's lack. */
  private double undecidedNotForRedis() {
    return undecidedBut("consumer", "mysql", "redis", "breaker");
  }

  /** Waits until purchases are refused with 503, and for a while none is confirmed. */
  private void awaitNoYes(FaultRun run) {
    int before = run.load().problems(UNKNOWN) + run.load().problems("BUSY");
    AtomicInteger accepted = new AtomicInteger(run.load().accepted());
    AtomicInteger refused = new AtomicInteger(before);
    Signals.await(
        "200 answers 503 in a row",
        () -> {
          int now = run.load().problems(UNKNOWN) + run.load().problems("BUSY");
          if (accepted.getAndSet(run.load().accepted()) != run.load().accepted()) {
            refused.set(now);
          }
          return now - refused.get() >= 200;
        });
  }

  private double decided() {
    return sum(LATENCY + "_count");
  }

  private double decidedInTime() {
    return sum(LATENCY + "_bucket", "le=\"0.3\"");
  }

  private double sum(String meter, String... labels) {
    return ServiceInstance.sum(lab.gateways(), meter, labels);
  }

  private Set<String> stored(FaultRun run) throws SQLException {
    Set<String> ids = new HashSet<>();
    for (SaleOffer sale : run.sales()) {
      ids.addAll(stored(sale));
    }
    return ids;
  }

  private Set<String> stored(SaleOffer sale) {
    String sql = "SELECT order_id FROM orders WHERE sku_id = ?";
    return new HashSet<>(lab.database().rows(sql, row -> row.getString(1), sale.skuId()));
  }
}
