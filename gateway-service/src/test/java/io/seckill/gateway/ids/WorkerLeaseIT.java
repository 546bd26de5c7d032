package io.seckill.gateway.ids;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class WorkerLeaseIT {

  private static final int PARTITION = 3;
  private static final Duration LEASE = Duration.ofSeconds(10);

  private Instant now = Instant.now();
  private final Clock clock = ((InstantSource) () -> now).withZone(ZoneOffset.UTC);

  @AutoClose private final UnifiedJedis redis = TestServers.redis().newDatabase().open();

  @Test
  void makesNoIdsBeforeItHoldsANumber() {
    WorkerLease lease = lease(LEASE);
    assertThat(lease.next()).isNull();

    assertThat(lease.renew()).isTrue();
    OrderId id = lease.next();
    assertThat(id.worker()).isEqualTo(lease.worker());
    assertThat(id.partition()).isEqualTo(PARTITION);
  }

  @Test
  void neverGivesANumberToTwo() {
    Set<Integer> workers = new HashSet<>();
    for (int i = 0; i < OrderId.MYSQL_WORKER; i++) {
      WorkerLease lease = lease(LEASE);
      assertThat(lease.renew()).isTrue();
      assertThat(workers.add(lease.worker())).isTrue();
    }

    WorkerLease oneTooMany = lease(LEASE);
    assertThat(oneTooMany.renew()).isFalse();
    assertThat(oneTooMany.next()).isNull();
    assertThat(workers).as("the number of order-consumer").doesNotContain(OrderId.MYSQL_WORKER);
  }

  @Test
  void stopsWhenItCannotRenewAndGoesOnWhenItCan(RedisServer server) throws IOException {
    try (TcpProxy link = TcpProxy.to(server);
        UnifiedJedis throughLink = server.newDatabase().via(link).open()) {
      WorkerLease lease =
          new WorkerLease(
              throughLink,
              breaker(throughLink),
              PARTITION,
              Clock.systemUTC(),
              Duration.ofSeconds(3));
      int worker = renewedWorker(lease);

      link.cut();
      assertThat(lease.renew()).isFalse();
      eventually().until(() -> lease.next() == null);
      assertThat(lease.worker()).isEqualTo(-1);

      link.heal();
      assertThat(lease.renew()).isTrue();
      assertThat(renewedWorker(lease))
          .as("no other lease took the number meanwhile")
          .isEqualTo(worker);
    }
  }

  /** A short lease may end on a slow machine before its number is read. */
  private static int renewedWorker(WorkerLease lease) {
    return eventually().until(() -> lease.renew() ? lease.worker() : -1, worker -> worker >= 0);
  }

  @Test
  @DisplayName("Two leases that use the same number never make the same id (fault 32)")
  void startsASuccessorAboveEverythingItsPredecessorCanStillUse() {
    WorkerLease asleep = lease(Duration.ofSeconds(3));
    int worker = renewedWorker(asleep);
    Set<OrderId> ids = new HashSet<>();
    take(asleep, 5_000, ids);
    expire(worker);
    leaseAllBut(worker);

    WorkerLease successor = lease(LEASE);
    assertThat(successor.renew()).isTrue();
    assertThat(successor.worker()).isEqualTo(worker);
    take(asleep, 5_000, ids);
    take(successor, 5_000, ids);

    assertThat(asleep.renew()).as("it lost its number, and all others are leased").isFalse();
    assertThat(asleep.next()).isNull();
  }

  @Test
  void repeatsNoIdWhenTheClockGoesBackBetweenTwoLives() {
    WorkerLease first = lease(LEASE);
    first.renew();
    int worker = first.worker();
    leaseAllBut(worker);
    Set<OrderId> ids = new HashSet<>();
    take(first, 10_000, ids);
    first.release();
    now = now.minus(Duration.ofMillis(5)); // some of the ids are of later times

    WorkerLease second = lease(LEASE);
    second.renew();

    assertThat(second.worker()).isEqualTo(worker);
    take(second, 10_000, ids);
    assertThat(ids).as("none was refused").hasSize(20_000);
  }

  @Test
  void usesNoTimeThatRedisDoesNotHoldInWriting() {
    WorkerLease lease = lease(LEASE);
    lease.renew();
    now = now.plus(Duration.ofHours(1));

    assertThat(lease.next()).as("ahead of the horizon").isNull();
    lease.renew();
    OrderId ahead = lease.next();
    assertThat(ahead).isNotNull();
    now = now.minus(Duration.ofHours(1));
    lease.renew();
    assertThat(lease.next()).isGreaterThan(ahead);
  }

  /** Ids end in 2094. */
  @ParameterizedTest(name = "{0} days ahead")
  @ValueSource(ints = {2, 80 * 365})
  void aClockFarAheadUsesUpNoTime(int days) {
    Instant right = now;
    WorkerLease lease = lease(LEASE);
    now = right.plus(Duration.ofDays(days));
    assertThat(lease.renew()).isTrue();
    assertThat(lease.next()).isNull();
    assertThat(lease.renew()).isTrue();
    assertThat(lease.next()).isNull();

    now = right;
    OrderId id = lease.next();
    assertThat(id).as("with the right clock").isNotNull();
    assertThat(id.timeMs()).isEqualTo(right.toEpochMilli());

    int worker = lease.worker();
    now = right.plus(Duration.ofDays(days));
    assertThat(lease.next()).isNull();
    lease.release();
    now = right;
    leaseAllBut(worker);
    WorkerLease successor = lease(LEASE);
    assertThat(successor.renew()).isTrue();
    OrderId next = successor.next();
    assertThat(next).as("of the number's next owner").isNotNull();
    assertThat(next.timeMs()).isEqualTo(right.toEpochMilli() + 1);
  }

  @Test
  void saysOnceThatItsClockIsFarAhead() {
    try (LoggedLines lines = LoggedLines.ofThisThread(WorkerLease.class)) {
      WorkerLease lease = lease(LEASE);
      now = now.plus(Duration.ofDays(2));
      ask(lease, 20);
      now = now.minus(Duration.ofDays(2));
      ask(lease, 20);

      assertThat(lines.texts())
          .satisfiesExactly(
              line -> assertThat(line).endsWith("leased"),
              line -> assertThat(line).contains("more than a day ahead of Redis's"),
              line -> assertThat(line).endsWith("renewed"));
    }
  }

  @Test
  void takesNoNumberThatWasUsedForYearsToCome() {
    leaseAllBut(17);
    long year2106 = Instant.parse("2106-01-01T00:00:00Z").toEpochMilli();
    redis.hset(RedisKeys.workers(PARTITION), "17", "|1|" + year2106);
    WorkerLease lease = lease(LEASE);
    assertThat(lease.renew()).isFalse();

    redis.hdel(RedisKeys.workers(PARTITION), "18");
    assertThat(lease.renew()).isTrue();
    assertThat(lease.worker()).isEqualTo(18);
    assertThat(lease.next()).isNotNull();
  }

  @Test
  void repeatsNoIdWhenRedisLosesTheLeases() {
    WorkerLease lease = lease(LEASE);
    lease.renew();
    int worker = lease.worker();
    Set<OrderId> ids = new HashSet<>();
    take(lease, 10_000, ids);
    redis.del(RedisKeys.workers(PARTITION));
    leaseAllBut(worker);

    assertThat(lease.renew()).isTrue();

    assertThat(lease.worker()).isEqualTo(worker);
    take(lease, 10_000, ids);
    assertThat(ids).as("none was refused").hasSize(20_000);
  }

  @Test
  void countsEachGatewayWithAValidLeaseOnce() {
    WorkerLease lease = lease(WorkerLease.COUNTING, LEASE);
    lease.renew();
    assertThat(lease.gateways()).isEqualTo(1);
    WorkerLease other = lease(WorkerLease.COUNTING, LEASE);
    other.renew();
    lease.renew();
    assertThat(List.of(lease.gateways(), other.gateways())).containsOnly(2);

    String workers = RedisKeys.workers(WorkerLease.COUNTING);
    String lost = Integer.toString((Math.max(lease.worker(), other.worker()) + 1) % 256);
    redis.hset(workers, lost, redis.hget(workers, Integer.toString(other.worker())));
    lease.renew();
    assertThat(lease.gateways()).as("a take whose reply was lost").isEqualTo(2);

    redis.hset(workers, lost, "token|1|1");
    other.release();
    lease.renew();
    assertThat(lease.gateways()).isEqualTo(1);
  }

  /** Its clock was an hour ahead when they were given. */
  @Test
  void countsNoLeaseFromBeforeTheClockOfRedisWasSetBack() {
    String workers = RedisKeys.workers(WorkerLease.COUNTING);
    long hour = System.currentTimeMillis() + Duration.ofHours(1).toMillis();
    for (int number = 0; number < OrderId.MYSQL_WORKER; number++) {
      redis.hset(workers, Integer.toString(number), "gone-" + number + "|" + hour + "|1");
    }
    WorkerLease lease = lease(WorkerLease.COUNTING, LEASE);

    assertThat(lease.renew()).isTrue();

    assertThat(lease.gateways()).isEqualTo(1);
  }

  @Test
  void keepsTheNumberOfGatewaysThatItLastKnewWithoutRedis(RedisServer server) throws IOException {
    try (TcpProxy link = TcpProxy.to(server);
        UnifiedJedis throughLink = server.newDatabase().via(link).open();
        WorkerLeases leases = leases(throughLink, Duration.ofSeconds(2))) {
      // Its lease must not end before the cut, however slow the machine is.
      try (WorkerLeases other = leases(throughLink, Duration.ofSeconds(5))) {
        eventually().until(() -> leases.count() == 2 && other.count() == 2);
        link.cut();
        eventually().until(() -> leases.of(WorkerLease.COUNTING).gateways() == 0);
        assertThat(leases.count()).isEqualTo(2);
      }

      link.heal();
      eventually().until(() -> leases.count() == 1);
    }
  }

  private static WorkerLeases leases(UnifiedJedis redis, Duration duration) {
    return new WorkerLeases(redis, breaker(redis), duration);
  }

  @Test
  void staysReleased() {
    WorkerLease lease = lease(LEASE);
    lease.renew();
    lease.release();

    assertThat(lease.renew()).as("a renewal after the release takes no new number").isFalse();
    assertThat(lease.next()).isNull();
    assertThat(redis.hvals(RedisKeys.workers(PARTITION)))
        .allMatch(value -> value.startsWith("|1|"));
  }

  @Test
  void saysOnceWhyItHasNoNumberHoweverOftenItAsks(RedisServer server) throws IOException {
    try (TcpProxy link = TcpProxy.to(server);
        UnifiedJedis throughLink = server.newDatabase().via(link).open();
        LoggedLines lines = LoggedLines.ofThisThread(WorkerLease.class)) {
      WorkerLease lease =
          new WorkerLease(throughLink, breaker(throughLink), PARTITION, clock, LEASE);
      leaseAllBut(throughLink, -1);
      link.cut();
      ask(lease, 20);
      link.heal();
      eventually()
          .pollInSameThread()
          .until(() -> askAndCount(lease, lines) > 1); // the breaker must close first
      ask(lease, 20);
      throughLink.hdel(RedisKeys.workers(PARTITION), "17");
      ask(lease, 20);

      assertThat(lines.texts())
          .satisfiesExactly(
              line -> assertThat(line).contains("worker lease not renewed"),
              line -> assertThat(line).contains("all worker numbers are leased"),
              line -> assertThat(line).endsWith("worker 17 leased"));
    }
  }

  private static int askAndCount(WorkerLease lease, LoggedLines lines) {
    lease.renew();
    return lines.events().size();
  }

  private static void ask(WorkerLease lease, int times) {
    for (int i = 0; i < times; i++) {
      lease.renew();
    }
  }

  private WorkerLease lease(Duration duration) {
    return lease(PARTITION, duration);
  }

  private WorkerLease lease(int partition, Duration duration) {
    return new WorkerLease(redis, breaker(redis), partition, clock, duration);
  }

  private static RedisBreaker breaker(UnifiedJedis redis) {
    return RedisBreakers.of(redis, new SimpleMeterRegistry());
  }

  private static void take(WorkerLease lease, int count, Set<OrderId> ids) {
    List<OrderId> repeated = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      OrderId id = lease.next();
      if (id != null && !ids.add(id)) {
        repeated.add(id);
      }
    }
    assertThat(repeated).isEmpty();
  }

  private void expire(int worker) {
    String value = redis.hget(RedisKeys.workers(PARTITION), Integer.toString(worker));
    String[] part = value.split("\\|", -1);
    redis.hset(RedisKeys.workers(PARTITION), Integer.toString(worker), part[0] + "|1|" + part[2]);
  }

  private void leaseAllBut(int worker) {
    leaseAllBut(redis, worker);
  }

  private static void leaseAllBut(UnifiedJedis redis, int worker) {
    long minute = System.currentTimeMillis() + Duration.ofMinutes(1).toMillis();
    for (int other = 0; other < 256; other++) {
      if (other != worker) {
        redis.hset(RedisKeys.workers(PARTITION), Integer.toString(other), "other|" + minute + "|1");
      }
    }
  }
}
