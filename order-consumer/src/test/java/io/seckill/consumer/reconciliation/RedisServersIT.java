package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.storage.CountedBarriers;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Its table of servers is its own, so that the consumer proves none of them. */
class RedisServersIT extends ReconciliationFixture {

  private static final String SENT = "SELECT COUNT(*) FROM barrier";
  private static final String PASSED = SENT + " WHERE passed_at IS NOT NULL";
  private static final ReconciliationProperties SETTINGS =
      new ReconciliationProperties(Duration.ofHours(1), Duration.ofSeconds(1), false);

  /** As when the broker loses the barrier that was sent because the first one was slow. */
  @Test
  void aBarrierThatPassesLateProvesTheServer() throws SQLException {
    try (Connection connection = TestServers.mysql().newDatabase().connect()) {
      JdbcClient own = JdbcClient.create(new SingleConnectionDataSource(connection, true));
      RedisServers servers = servers(own);
      change(own, 3);

      servers.round();
      eventually().until(() -> ledger.number(PASSED) == 1);
      consumer.update("UPDATE barrier SET passed_at = NULL");
      eventually()
          .until(
              () -> {
                servers.round();
                return ledger.number(SENT) == 2;
              });
      eventually().until(() -> ledger.number(PASSED) == 1);
      assertThat(former(own)).isEqualTo(1);
      consumer.update("UPDATE barrier SET passed_at = IF(passed_at IS NULL, NOW(6), NULL)");
      servers.round();

      assertThat(former(own)).isZero();
    }
  }

  /** Rows of barriers are deleted after a day. */
  @Test
  void sendsAnotherBarrierWhenTheRowsOfAllAreGone() throws SQLException {
    try (Connection connection = TestServers.mysql().newDatabase().connect()) {
      JdbcClient own = JdbcClient.create(new SingleConnectionDataSource(connection, true));
      var unused = servers(own);
      change(own, 3);
      RedisServers servers =
          new RedisServers(
              own,
              consumer.redis(),
              consumer.bean(Barriers.class),
              new ReconciliationProperties(Duration.ofHours(1), Duration.ofMinutes(10), false));
      servers.round();
      assertThat(ledger.number(SENT)).isEqualTo(1);
      consumer.update("DELETE FROM barrier");

      servers.round();

      assertThat(ledger.number(SENT)).isEqualTo(1);
      assertThat(former(own)).isEqualTo(1);
    }
  }

  /** Each second, while a queue does not move for hours. */
  @Test
  void asksForAllBarriersAtOnce() throws SQLException {
    try (Connection connection = TestServers.mysql().newDatabase().connect()) {
      JdbcClient own = JdbcClient.create(new SingleConnectionDataSource(connection, true));
      var unused = servers(own);
      change(own, 3);
      CountedBarriers barriers = new CountedBarriers();
      RedisServers servers = new RedisServers(own, consumer.redis(), barriers, SETTINGS);
      eventually()
          .until(
              () -> {
                servers.round();
                return barriers.sent() >= 3;
              });
      int reads = barriers.reads();

      servers.round();

      assertThat(barriers.reads()).isEqualTo(reads + 1);
    }
  }

  /** What its former server had published may be behind the barrier. */
  @Test
  void aBarrierProvesNoServerThatHasChangedSinceItWasSent() throws SQLException {
    try (Connection connection = TestServers.mysql().newDatabase().connect()) {
      JdbcClient own = JdbcClient.create(new SingleConnectionDataSource(connection, true));
      RedisServers servers = servers(own);
      change(own, 3);
      servers.round();
      eventually().until(() -> ledger.number(PASSED) == 1);
      change(own, 7); // of the same order queue

      servers.round();

      assertThat(former(own)).isEqualTo(2);
      assertThat(ledger.number(SENT)).isEqualTo(2);
      eventually().until(() -> ledger.number(PASSED) == 2);
      servers.round();
      assertThat(former(own)).isZero();
    }
  }

  /** What the server before had published may be behind the barrier. */
  @Test
  void provesTheServerThatThereWasBeforeTheBarrier() throws SQLException {
    try (Connection connection = TestServers.mysql().newDatabase().connect()) {
      JdbcClient own = JdbcClient.create(new SingleConnectionDataSource(connection, true));
      var unused = servers(own);
      change(own, 3);
      RedisServers changing =
          new RedisServers(
              own,
              new CannedRedis(command -> ledger.number(SENT) == 0 ? "before" : "after"),
              consumer.bean(Barriers.class),
              new ReconciliationProperties(Duration.ofHours(1), SOON, false));

      assertThat(changing.prove(3)).isTrue();

      assertThat(
              own.sql("SELECT replication_id FROM redis_server WHERE partition_no = 3")
                  .query(String.class)
                  .single())
          .isEqualTo("before");
    }
  }

  /** Returns them with all that they find in Redis proven, and no barrier sent. */
  private static RedisServers servers(JdbcClient own) {
    own.sql(
            "CREATE TABLE redis_server (partition_no INT PRIMARY KEY, replication_id VARCHAR(40),"
                + " proven_at DATETIME(3))")
        .update();
    RedisServers servers =
        new RedisServers(own, consumer.redis(), consumer.bean(Barriers.class), SETTINGS);
    servers.round(); // adopts them
    consumer.update("DELETE FROM barrier");
    return servers;
  }

  private static void change(JdbcClient own, int partition) {
    own.sql("UPDATE redis_server SET replication_id = 'former' WHERE partition_no = ?")
        .param(partition)
        .update();
  }

  private static long former(JdbcClient own) {
    return own.sql("SELECT COUNT(*) FROM redis_server WHERE replication_id = 'former'")
        .query(Long.class)
        .single();
  }
}
