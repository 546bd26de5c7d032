package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.Bounded;
import io.seckill.testing.Eventually;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

/** Reads of orders from Redis, by one thread. */
@ExtendWith(TestServers.class)
class RedisOrdersIT {

  private static final long SKU = 16_009;
  private static final long USER = 7;

  @Test
  void anUnreadableRecordSpoilsNoOtherReadOfItsBatch(RedisServer server) throws IOException {
    inABatch(
        server,
        redis -> List.of(order(redis, SKU, 1, null), order(redis, SKU, 2, "7|no|record")),
        (orders, ids) -> {
          CompletableFuture<LookupResult<RedisOrder>> first = orders.read(ids.get(0), USER, SKU);
          CompletableFuture<LookupResult<RedisOrder>> second = orders.read(ids.get(1), USER, SKU);
          CompletableFuture<LookupResult<RedisOrder>> third = orders.read(ids.get(0), USER, SKU);

          assertThat(Bounded.get(first).order()).isPresent();
          assertThat(Bounded.get(second)).isEqualTo(LookupResult.unknown());
          assertThat(Bounded.get(third).order()).isPresent();
        });
  }

  @Test
  void anOrderIsUnknownWhereAKeyOfItsSaleHasTheWrongType(RedisServer server) throws IOException {
    long unreadable = SKU + 2L * Partition.COUNT;
    long withoutBucket = SKU + 4L * Partition.COUNT;
    inABatch(
        server,
        redis -> {
          OrderId inFirst = order(redis, unreadable, 1, null);
          OrderId inSecond = order(redis, withoutBucket, 2, null);
          List.of(RedisKeys.sku(unreadable), RedisKeys.bucket(withoutBucket, 0))
              .forEach(key -> redis.set(key, "of another program"));
          return List.of(inFirst, inSecond, order(redis, SKU + 6L * Partition.COUNT, 3, null));
        },
        (orders, ids) -> {
          var first = orders.read(ids.get(0), USER, unreadable);
          var second = orders.read(ids.get(1), USER, withoutBucket);
          var searched = orders.read(ids.get(1), USER, null);
          var behindThem = orders.read(ids.get(2), USER, null);

          assertThat(Bounded.get(first)).isEqualTo(LookupResult.unknown());
          assertThat(Bounded.get(second)).isEqualTo(LookupResult.unknown());
          assertThat(Bounded.get(searched)).isEqualTo(LookupResult.unknown());
          assertThat(Bounded.get(behindThem).order()).isPresent();
        });
  }

  /** So many that a search takes a second call. */
  @Test
  void anOrderIsUnknownWhereAKeyInTheFirstCallOfItsSearchHasTheWrongType(RedisServer server)
      throws IOException {
    inABatch(
        server,
        redis -> {
          List<OrderId> ids =
              LongStream.range(0, RedisOrders.MOST_READS)
                  .mapToObj(i -> order(redis, SKU + i * Partition.COUNT, 1 + (int) i, null))
                  .toList();
          redis.set(RedisKeys.sku(SKU), "of another program");
          return ids;
        },
        (orders, ids) ->
            assertThat(Bounded.get(orders.read(ids.get(0), USER, null)))
                .isEqualTo(LookupResult.unknown()));
  }

  @Test
  void readsOrdersOfSeveralPartitionsInOneBatchAndSearchesNoneThatHasAHint(RedisServer server)
      throws IOException {
    inABatch(
        server,
        redis -> List.of(order(redis, SKU, 1, null), order(redis, SKU + 1, 1, null)),
        (orders, ids) -> {
          OrderId one = ids.get(0);
          OrderId other = ids.get(1);
          CompletableFuture<LookupResult<RedisOrder>> first = orders.read(one, USER, SKU);
          CompletableFuture<LookupResult<RedisOrder>> wrongHint = orders.read(other, USER, SKU);
          CompletableFuture<LookupResult<RedisOrder>> rightHint = orders.read(one, USER, SKU);
          CompletableFuture<LookupResult<RedisOrder>> noHint = orders.read(other, USER, null);

          assertThat(Bounded.get(first).order()).isPresent();
          assertThat(Bounded.get(wrongHint)).isEqualTo(LookupResult.of(null));
          assertThat(Bounded.get(rightHint).order().map(RedisOrder::skuId)).contains(SKU);
          assertThat(Bounded.get(noHint).order().map(RedisOrder::skuId)).contains(SKU + 1);
        });
  }

  /** A purchase waits for one call, not for all reads of invented ids in all sales. */
  @Tag("proof")
  @Test
  void looksForInventedIdsInManyCalls(RedisServer server) throws IOException {
    int skus = 100;
    inABatch(
        server,
        redis ->
            LongStream.range(0, skus)
                .mapToObj(i -> order(redis, SKU + i * Partition.COUNT, 1 + (int) i, null))
                .toList(),
        (orders, ids) -> {
          try (UnifiedJedis admin = server.newDatabase().open()) {
            long calls = count(admin, "cmdstat_evalsha");
            long reads = count(admin, "cmdstat_hget");
            var first = orders.read(ids.get(0), USER, SKU);
            List<CompletableFuture<LookupResult<RedisOrder>>> invented =
                IntStream.range(0, 14).mapToObj(i -> orders.read(invented(i), USER, null)).toList();
            var real = orders.read(ids.get(skus - 1), USER, null);

            assertThat(Bounded.get(first).order()).isPresent();
            assertThat(invented)
                .allSatisfy(one -> assertThat(Bounded.get(one)).isEqualTo(LookupResult.of(null)));
            assertThat(Bounded.get(real).order()).isPresent();
            reads = count(admin, "cmdstat_hget") - reads;
            calls = count(admin, "cmdstat_evalsha") - calls;
            assertThat(reads).as("reads of orders").isGreaterThanOrEqualTo(14L * skus);
            assertThat(reads / calls).isLessThanOrEqualTo(RedisOrders.MOST_READS);
            assertThat(calls).isGreaterThanOrEqualTo(reads / RedisOrders.MOST_READS);
          }
        });
  }

  private static OrderId invented(int i) {
    return OrderId.of(System.currentTimeMillis(), Partition.ofSku(SKU), 2, i);
  }

  private static long count(UnifiedJedis redis, String command) {
    String stats = (String) redis.eval("return redis.call('INFO', 'commandstats')");
    Matcher calls = Pattern.compile(command + ":calls=(\\d+)").matcher(stats);
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  /** Reads over a slow link: while the first order is read, the other reads form a batch. */
  private static void inABatch(
      RedisServer server,
      Function<UnifiedJedis, List<OrderId>> stored,
      BiConsumer<RedisOrders, List<OrderId>> reads)
      throws IOException {
    try (TcpProxy link = TcpProxy.to(server);
        UnifiedJedis redis = server.newDatabase().via(link).open()) {
      List<OrderId> ids = stored.apply(redis);
      RedisOrders orders =
          new RedisOrders(
              redis,
              RedisBreakers.of(redis, new SimpleMeterRegistry()),
              (partition, onServer) -> true,
              16,
              1,
              Eventually.SOON);
      try {
        link.delay(Duration.ofMillis(200));
        reads.accept(orders, ids);
      } finally {
        orders.destroy();
      }
    }
  }

  private static OrderId order(UnifiedJedis redis, long sku, int sequence, String text) {
    int partition = Partition.ofSku(sku);
    OrderId id = OrderId.of(System.currentTimeMillis(), partition, 1, sequence);
    redis.sadd(RedisKeys.skus(partition), Long.toString(sku));
    redis.hset(RedisKeys.sku(sku), Map.of("bucketCount", "1", "settled", "0"));
    AdmissionRecord record =
        new AdmissionRecord(
            USER, "key-0001", 1, 1, id.timeMs(), 1, OrderStatus.QUEUED, null, id.timeMs(), null);
    redis.hset(RedisKeys.bucket(sku, 0), id.toString(), text == null ? record.format() : text);
    return id;
  }
}
