package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

@ExtendWith(TestServers.class)
class SaleHashesIT {

  private static final long SKU = 16;
  private static final String SMALL = RedisKeys.bucket(SKU, 1);
  private static final String LARGE = RedisKeys.bucket(SKU, 2);

  @AutoClose private final RedisServer server = RedisServer.start();
  @AutoClose private final UnifiedJedis redis = server.open();

  private final Set<String> fields = new HashSet<>();

  /** Its fields are in another order there, so the cursor of the first page would skip some. */
  @Test
  void endsWhenAnotherServerTakesOverBetweenTwoPages() {
    fill(LARGE, 5_000);
    read(LARGE, () -> {});
    assertThat(fields).hasSize(5_000);

    assertThatExceptionOfType(JedisException.class).isThrownBy(() -> read(LARGE, this::promote));
  }

  @Test
  void readsAHashOfOnePageFromAnyServer() {
    fill(SMALL, 50);

    read(SMALL, this::promote);

    assertThat(fields).hasSize(50);
    assertThat(redis.info("commandstats")).doesNotContain("cmdstat_eval");
  }

  /**
   * @param then called after the first field
   */
  private void read(String key, Runnable then) {
    fields.clear();
    SaleHashes.pageByPage(
        redis,
        SKU,
        List.of(key),
        (field, value) -> {
          if (fields.isEmpty()) {
            then.run();
          }
          fields.add(field);
        });
  }

  /** The server gets another replication id. */
  private void promote() {
    try (Jedis operator = new Jedis(server.host(), server.port())) {
      operator.replicaof("127.0.0.1", 1); // nobody listens there
      operator.replicaofNoOne();
    }
  }

  private void fill(String key, int size) {
    redis.hset(
        key,
        IntStream.range(0, size)
            .mapToObj(n -> "field-" + n)
            .collect(Collectors.toMap(field -> field, field -> "value")));
  }
}
