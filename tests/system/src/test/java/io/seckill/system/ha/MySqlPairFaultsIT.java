package io.seckill.system.ha;

import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.Rows;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of a MySQL primary and its semi-synchronous standby. */
@Tag("proof")
@OnChannel(value = "relay", durableIn = "replicas")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class MySqlPairFaultsIT {

  private static final Duration PROMISED = Duration.ofSeconds(30);

  private final SentinelLab lab;
  private final MySqlPair mysql;

  MySqlPairFaultsIT(SentinelLab lab) {
    this.lab = lab;
    this.mysql = lab.servers().mysql();
  }

  private FaultRun run(String row) {
    return lab.run(
        row + ", durable in " + lab.channel().durableIn(), 3_000, Duration.ofSeconds(15));
  }

  @Test
  @DisplayName("56: MySQL standby promoted under load")
  void promoted() {
    try (FaultRun run = run("56 MySQL standby promoted").begin(300)) {
      long since = System.nanoTime();
      mysql.promote();
      run.awaitFlow("storing is back", since, PROMISED);
      run.fault("the primary of MySQL killed, the standby promoted");
      mysql.rejoin();
      run.judge();
    }
  }

  /** The primary has a transaction that nobody was told of; it comes back as standby without it. */
  @Test
  @DisplayName("57: MySQL primary killed after COMMIT, before the standby confirmed")
  void killedBeforeTheStandbyConfirmed() throws SQLException {
    try (FaultRun run = run("57 MySQL primary killed unconfirmed").begin(300)) {
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

  @Test
  @DisplayName("58: MySQL primary read-only")
  void readOnly() {
    try (FaultRun run = run("58 MySQL primary read-only").begin(300)) {
      mysql.primary().setReadOnly(true);
      Signals.await("orders to wait in the broker", () -> run.inBroker() > 200);
      run.fault("the primary of MySQL read-only");
      mysql.primary().setReadOnly(false);
      run.awaitFlow("storing is back", System.nanoTime(), PROMISED);
      run.judge();
    }
  }

  @Test
  @DisplayName("59: MySQL standby killed, and back")
  void standbyKilled() {
    try (FaultRun run = run("59 MySQL standby killed").begin(300)) {
      mysql.standby().kill();
      Signals.await("orders to wait in the broker", () -> run.inBroker() > 200);
      run.fault("the standby of MySQL killed");
      mysql.heal();
      run.awaitFlow("storing is back", System.nanoTime(), PROMISED);
      run.judge();
    }
  }

  private boolean isCommitWaiting() throws SQLException {
    String status = "SHOW STATUS LIKE 'Rpl_semi_sync_master_wait_sessions'";
    try (Connection root = mysql.primary().rootConnection()) {
      return Rows.of(root, status, row -> row.getInt(2)).get(0) > 0;
    }
  }
}
