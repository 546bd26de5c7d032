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
    assertThat(DeployedSettings.lines("mysql/mysql-only.cnf"))
        .containsOnlyOnce(
            "gtid_mode = ON",
            "enforce_gtid_consistency = ON",
            "plugin_load_add = semisync_source.so",
            "plugin_load_add = semisync_replica.so",
            "loose_rpl_semi_sync_replica_enabled = ON",
            "loose_rpl_semi_sync_source_wait_point = AFTER_SYNC",
            "loose_rpl_semi_sync_source_timeout = 4294967295");
  }

  /** Without them a replica takes over that lacks what was sold, or two primaries sell. */
  @Test
  void aMajorityReplacesAPrimaryByAReplicaThatHasItsOrders() {
    assertThat(DeployedSettings.redisCluster())
        .containsOnlyOnce(
            "cluster-node-timeout 3000",
            "cluster-replica-validity-factor 1",
            "cluster-require-full-coverage no",
            "cluster-allow-reads-when-down no",
            "min-replicas-to-write 0");
    assertThat(DeployedSettings.lines("redis/sentinel.conf"))
        .containsOnlyOnce(
            "sentinel monitor seckill @HOST@ @PORT@ 2",
            "sentinel down-after-milliseconds seckill 3000",
            "sentinel failover-timeout seckill 10000");
    assertThat(DeployedSettings.mysqlHa())
        .containsOnlyOnce("gtid_strict_mode = ON", "sync_master_info = 1", "relay_log = relay");
  }

  /** Of slow writes, which an alert reads; of packed hashes; of logs that a backup reads later. */
  @Test
  void whatOtherPartsReadIsSwitchedOn() {
    assertThat(DeployedSettings.redis())
        .containsOnlyOnce(
            "latency-monitor-threshold 100",
            "hash-max-listpack-entries 128",
            "hash-max-listpack-value 128");
    assertThat(DeployedSettings.mysql()).containsOnlyOnce("binlog_expire_logs_seconds = 259200");
  }

  @Test
  void rabbitMqBlocksPublishersFindsConsumersThatHangAndRefusesLongMessages() {
    assertThat(DeployedSettings.rabbit())
        .containsOnlyOnce(
            "heartbeat = 10",
            "vm_memory_high_watermark.relative = 0.4",
            "disk_free_limit.absolute = 512MB",
            "consumer_timeout = 900000",
            "max_message_size = 65536",
            "queue_leader_locator = balanced");
  }

  @Test
  void rabbitMqStopsWhereItHasNoMajority() {
    assertThat(DeployedSettings.rabbitCluster())
        .containsOnlyOnce("cluster_partition_handling = pause_minority");
  }
}
