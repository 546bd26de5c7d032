package io.seckill.gateway.ids;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

@Tag("proof")
@ChildProcessesOnly
class WorkerLeasesClusterIT {

  private static final Duration SILENCE = Duration.ofSeconds(2);

  /** Its partitions would take ten seconds of one thread, longer than a lease lasts. */
  @Test
  void aFrozenNodeDelaysNoRenewalOfTheOthers() {
    try (RedisCluster cluster = RedisCluster.start();
        UnifiedJedis redis = RedisClients.open(settings(cluster), "test");
        WorkerLeases leases =
            new WorkerLeases(
                redis, RedisBreakers.of(redis, new SimpleMeterRegistry()), WorkerLeases.DURATION)) {
      Map<RedisServer, List<Integer>> byNode =
          IntStream.range(0, Partition.COUNT)
              .boxed()
              .collect(Collectors.groupingBy(p -> cluster.primaryOf(RedisKeys.workers(p))));
      RedisServer node =
          Collections.max(byNode.keySet(), Comparator.comparing(one -> byNode.get(one).size()));
      List<Integer> away = byNode.remove(node);
      assertThat(away).hasSizeGreaterThan(4);
      List<Integer> others = byNode.values().stream().flatMap(List::stream).toList();
      eventually().until(() -> haveIds(leases, others));

      node.freeze();
      try {
        await()
            .during(WorkerLeases.DURATION.multipliedBy(3).dividedBy(2))
            .atMost(WorkerLeases.DURATION.multipliedBy(2))
            .until(() -> haveIds(leases, others));
        assertThat(leases.nextId(away.get(0))).as("of the frozen node").isNull();
      } finally {
        node.thaw();
      }
      eventually().until(() -> haveIds(leases, away));
    }
  }

  private static boolean haveIds(WorkerLeases leases, List<Integer> partitions) {
    return partitions.stream().allMatch(partition -> leases.nextId(partition) != null);
  }

  private static RedisSettings settings(RedisCluster cluster) {
    return new RedisSettings(
        RedisSettings.Mode.CLUSTER,
        "redis://127.0.0.1:1", // unused: nodes report the slots
        cluster.nodes(),
        null,
        32,
        SILENCE,
        null);
  }
}
