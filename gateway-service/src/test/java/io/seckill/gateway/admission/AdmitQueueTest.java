package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** Purchases that wait for the only admission thread. */
class AdmitQueueTest {

  private static final AdmissionProperties ONE_THREAD =
      new AdmissionProperties(
          1, 64, 4_096, Duration.ofSeconds(30), Durability.Store.REDIS, 0, Duration.ZERO);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final VerifiedServers servers = new VerifiedServers();
  private final List<String> keys = new CopyOnWriteArrayList<>();
  private final List<Admission> outcomes = new CopyOnWriteArrayList<>();
  private final CountDownLatch answers = new CountDownLatch(1);

  @Test
  void areSentToAClusterByPartitionBecauseACallHasKeysOfOneNode() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      servers.verified(partition, "server");
    }
    try (RequestBatcher<Purchase> queue = queue(CannedRedis.cluster(this::answer))) {
      queue.submit(purchase(0));
      eventually().until(() -> keys.size() == 1);
      LongStream.range(1, Partition.COUNT).forEach(sku -> queue.submit(purchase(sku)));

      answers.countDown();

      eventually().until(() -> outcomes.size() == Partition.COUNT);
      assertThat(keys).hasSize(Partition.COUNT).containsOnly("1");
    }
  }

  private Object answer(List<String> evalsha) {
    keys.add(evalsha.get(2)); // their number
    Bounded.await(answers);
    return new JedisDataException("ERR");
  }

  private Purchase purchase(long sku) {
    return new Purchase(new PurchaseAttempt(sku, 1, "key-0001", true, 1, null), outcomes::add);
  }

  private RequestBatcher<Purchase> queue(UnifiedJedis redis) {
    return new AdmissionConfiguration()
        .admitQueue(
            redis,
            RedisBreakers.of(redis, meters),
            new AdmitRequests(
                servers,
                TestPromises.withoutFallback(),
                Calls.IDS::next,
                sku -> null,
                List.of(),
                ONE_THREAD.durability()),
            null,
            ONE_THREAD,
            new AdmissionMetrics(meters),
            meters);
  }
}
