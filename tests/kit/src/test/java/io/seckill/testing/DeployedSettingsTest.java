package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Without these lines an accepted order may be lost with the power, or the clocks of the stores
 * differ; a test that shows it cuts the power, and is a proof.
 */
class DeployedSettingsTest {

  @Test
  void redisHasAnOrderOnDiskBeforeItAnswers() {
    for (List<String> lines :
        List.of(
            DeployedSettings.redis(),
            DeployedSettings.redisHa(),
            DeployedSettings.redisCluster())) {
      assertThat(lines)
          .containsOnlyOnce(
              "appendonly yes", "appendfsync always", "maxmemory-policy noeviction", "save \"\"");
    }
    assertThat(DeployedSettings.redisHa()).contains("min-replicas-to-write 1");
  }

  @Test
  void mySqlHasACommitOnDiskBeforeItAnswers() {
    assertThat(DeployedSettings.mysql())
        .containsOnlyOnce(
            "innodb_flush_log_at_trx_commit = 1",
            "sync_binlog = 1",
            "log_bin = binlog",
            "innodb_doublewrite = ON",
            "binlog_format = ROW",
            "transaction_isolation = READ-COMMITTED",
            "default_time_zone = '+00:00'");
    assertThat(DeployedSettings.mysqlHa())
        .containsOnlyOnce(
            "sync_relay_log = 1",
            "log_slave_updates = ON",
            "rpl_semi_sync_slave_enabled = ON",
            "rpl_semi_sync_master_wait_point = AFTER_SYNC",
            "rpl_semi_sync_master_timeout = 4294967295");
  }

  @Test
  void rabbitMqStopsWhereItHasNoMajority() {
    assertThat(DeployedSettings.rabbitCluster())
        .containsOnlyOnce("cluster_partition_handling = pause_minority");
  }
}
