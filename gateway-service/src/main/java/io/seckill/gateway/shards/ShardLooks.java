package io.seckill.gateway.shards;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.PendingRequest;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.gateway.shards.ShardLine.Demand;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Reads shards from Redis, and asks for units for them; looks of several shards share a call. */
@Component
final class ShardLooks implements DisposableBean {

  private static final LuaScript ASK = LuaScript.from(ShardLooks.class, "ask.lua");

  /** On a cluster one thread serves the partitions that answer, one those that do not. */
  private static final int THREADS = 2;

  private static final int MOST_AT_ONCE = 64;
  private static final int MOST_WAITING = 1_024;

  /** As long as a call of Redis that does not count as slow. */
  private static final Duration WITHIN = Duration.ofMillis(150);

  /** Distinguishes this gateway from the others that ask for the same shard. */
  private static final String GATEWAY = UUID.randomUUID().toString().substring(0, 8);

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final RequestBatcher<Look> looks;

  ShardLooks(UnifiedJedis redis, RedisBreaker breaker) {
    this.redis = redis;
    this.breaker = breaker;
    this.looks =
        new RequestBatcher<>(
            "shards",
            new RequestBatcherProperties(THREADS, 1, MOST_AT_ONCE, MOST_WAITING, WITHIN, WITHIN),
            RedisClients.areApart(redis),
            this::execute);
  }

  /** One look at a shard. */
  private static final class Look extends PendingRequest {
    private final List<String> keys;
    private final List<String> args;
    private final int partition;
    private final Consumer<@Nullable ShardStock> seen;
    private final AtomicBoolean isAnswered = new AtomicBoolean();

    Look(long shardId, Demand demand, Consumer<@Nullable ShardStock> seen) {
      this.keys = List.of(RedisKeys.sku(shardId), RedisKeys.stock(shardId));
      this.args =
          List.of(
              Long.toString(demand.units()), Long.toString(demand.waited().toMillis()), GATEWAY);
      this.partition = Partition.ofSku(shardId);
      this.seen = seen;
    }

    @Override
    protected int partition() {
      return partition;
    }

    void answer(@Nullable ShardStock stock) {
      if (isAnswered.compareAndSet(false, true)) {
        seen.accept(stock);
      }
    }

    @Override
    public void fail(Failure failure) {
      answer(null);
    }
  }

  /**
   * @param seen called once, by another thread, within 150 ms; with null when Redis has not
   *     answered
   */
  void begin(long shardId, Demand demand, Consumer<@Nullable ShardStock> seen) {
    looks.submit(new Look(shardId, demand, seen));
  }

  private void execute(List<Look> batch) {
    List<List<String>> keys = batch.stream().map(look -> look.keys).toList();
    List<List<String>> args = batch.stream().map(look -> look.args).toList();
    List<Object> replies =
        breaker.call(batch.get(0).partition, () -> ASK.callEach(redis, keys, args));
    for (int i = 0; i < batch.size(); i++) {
      batch.get(i).answer(ShardStock.parse((List<?>) replies.get(i)));
    }
  }

  @Override
  public void destroy() {
    looks.close();
  }
}
