package io.seckill.system.ha;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of a MySQL primary and its semi-synchronous standby. */
@Tag("proof")
@OnChannel(durableIn = "replicas")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class MySqlPairFaultsIT {

  private static final Duration PROMISED = Duration.ofSeconds(30);
  private static final Duration LONGEST = Duration.ofMinutes(10);
  private static final Duration AT_THE_LIMIT = Duration.ofMinutes(1);

  /** Between two payments; more than the connections for payments can take. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** Connections of all services, which share a user here. */
  private static final int LIMIT = 280;

  private final SentinelLab lab;
  private final MySqlPair mysql;

  MySqlPairFaultsIT(SentinelLab lab) {
    this.lab = lab;
    this.mysql = lab.servers().mysql();
  }

  @Test
  @DisplayName("56: MySQL standby promoted under load")
  void promoted() {
    try (FaultRun run = lab.run("56 MySQL standby promoted").begin(300)) {
      long since = System.nanoTime();
      mysql.promote();
      run.awaitFlow("storing is back", since, PROMISED);
      run.fault("the primary of MySQL killed, the standby promoted");
      mysql.rejoin();
      run.judge();
    }
  }

  /**
   * The primary has a transaction that no client has an answer of; it comes back as standby without
   * it.
   */
  @Test
  @DisplayName("57: MySQL primary killed after COMMIT, before the standby confirmed")
  void killedBeforeTheStandbyConfirmed() {
    try (FaultRun run = lab.run("57 MySQL primary killed unconfirmed").begin(300)) {
      mysql.stopReceiving();
      Signals.await("a COMMIT to wait for the standby", this::isCommitWaiting);
      mysql.primary().kill();
      long since = System.nanoTime();
      mysql.promote();
      run.awaitFlow("storing is back", since, PROMISED);
      run.fault("the primary of MySQL killed with transactions that the standby did not have");
      mysql.rejoin();
      run.judge();
    }
  }

  /**
   * A service gives up a COMMIT after 10 s and opens another connection, MySQL keeps waiting for
   * the standby in the old one. The limit of the user keeps connections free for the standby.
   */
  @Test
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  @DisplayName("59: MySQL standby gone until all connections wait for it, while orders are paid")
  void standbyGoneWhileOrdersArePaid() throws Exception {
    try (FaultRun run = lab.run("59 MySQL standby gone").begin(600)) {
      Signals.await("orders to pay", () -> unpaid().size() >= 300);
      int uncounted = connections(); // MariaDB limits those that begin later
      mysql.limitConnections(lab.database(), LIMIT);
      List<Order> orders = unpaid();
      orders.forEach(order -> run.mayBePaid(order.id()));
      mysql.standby().kill();
      int most = payWhileTheStandbyIsGone(orders);
      assertThat(most).as("connections of the services").isBetween(LIMIT / 2, LIMIT + uncounted);
      run.fault("the standby of MySQL gone; " + most + " connections wait for it");
      mysql.heal();
      run.judge(); // by now the last shopper has come
    }
  }

  /**
   * Pays one order after the other until the services have had no free connection for a minute;
   * returns the most connections that they had.
   */
  private int payWhileTheStandbyIsGone(List<Order> orders) {
    AtomicLong end = new AtomicLong(System.nanoTime() + LONGEST.toNanos());
    AtomicInteger paid = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(PAUSE)
        .atMost(LONGEST.multipliedBy(2))
        .until(
            () -> {
              int i = paid.getAndIncrement();
              Order order = orders.get(i % orders.size());
              var unused = lab.shops().get(i % 2).payAsync(order.userId(), order.id());
              if (i % 50 == 0) {
                boolean atTheLimit = most.get() >= LIMIT;
                if (most.accumulateAndGet(connections(), Math::max) >= LIMIT && !atTheLimit) {
                  end.set(System.nanoTime() + AT_THE_LIMIT.toNanos());
                }
              }
              return System.nanoTime() - end.get() >= 0;
            });
    return most.get();
  }

  private record Order(String id, long userId) {}

  private List<Order> unpaid() {
    return rows(
        "SELECT order_id, user_id FROM %s.orders WHERE status = 'CONFIRMED'"
            .formatted(lab.database().name()),
        row -> new Order(row.getString(1), row.getLong(2)));
  }

  private int connections() {
    String count = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = '%s'";
    return rows(count.formatted(lab.database().username()), row -> row.getInt(1)).get(0);
  }

  private boolean isCommitWaiting() {
    return rows("SHOW STATUS LIKE 'Rpl_semi_sync_master_wait_sessions'", row -> row.getInt(2))
            .get(0)
        > 0;
  }

  private <T> List<T> rows(String sql, Rows.Reader<T> reader) {
    try (Connection root = mysql.primary().rootConnection()) {
      return Rows.of(root, sql, reader);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
