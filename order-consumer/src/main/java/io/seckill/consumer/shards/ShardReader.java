package io.seckill.consumer.shards;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.support.thread.DaemonThreads;
import jakarta.annotation.PreDestroy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Reads shards in Redis. Thread-safe. */
@Component
class ShardReader {

  /** Longer than a purchase waits at a gateway. */
  private static final long ASKED_MS = 500;

  private static final Pattern ASKED = Pattern.compile("(\\d{1,9}):(\\d{1,14})");

  private static final LuaScript READ = LuaScript.from(ShardReader.class, "shard_read.lua");

  /** Less than a purchase waits at a gateway, and as long as a busy server may take. */
  private static final Duration PATIENCE = Duration.ofMillis(200);

  private final UnifiedJedis redis;
  private final RedisCallGuard guard;
  private final Duration patience;

  /** At most one thread for each part of Redis. */
  private final ExecutorService threads =
      Executors.newCachedThreadPool(DaemonThreads.named("shard-reads"));

  /** The last call to each part of Redis. */
  private final Map<Integer, Future<?>> calls = new HashMap<>();

  @Autowired
  ShardReader(UnifiedJedis redis, RedisCallGuard guard) {
    this(redis, guard, PATIENCE);
  }

  ShardReader(UnifiedJedis redis, RedisCallGuard guard, Duration patience) {
    this.redis = redis;
    this.guard = guard;
    this.patience = patience;
  }

  @PreDestroy
  void stop() {
    threads.shutdownNow();
  }

  /**
   * Those of these shards that can be reached, and in which Redis has lost nothing. One server is
   * asked for all in one round trip. Where shards may be on several servers they are read at once,
   * and one that hangs is not waited for: it is read again when the call before has ended.
   */
  List<ShardState> read(List<ExpectedSale> shards) {
    return guard.parts() == 1 ? readTogether(shards) : readAtOnce(shards);
  }

  private List<ShardState> readTogether(List<ExpectedSale> shards) {
    List<ShardState> found = new ArrayList<>();
    guard.run(
        0,
        () -> {
          List<Object> replies =
              READ.callEach(
                  redis,
                  shards.stream().map(ShardReader::keys).toList(),
                  shards.stream().map(ShardReader::args).toList());
          for (int i = 0; i < shards.size(); i++) {
            state(shards.get(i), (List<?>) replies.get(i)).ifPresent(found::add);
          }
        });
    return found;
  }

  private synchronized List<ShardState> readAtOnce(List<ExpectedSale> shards) {
    List<Future<Optional<ShardState>>> started = new ArrayList<>();
    for (ExpectedSale shard : shards) {
      int part = guard.partOf(shard.id());
      Future<?> before = calls.get(part);
      if (before == null || before.isDone()) {
        Future<Optional<ShardState>> call = threads.submit(() -> read(shard));
        calls.put(part, call);
        started.add(call);
      }
    }
    long endNanos = System.nanoTime() + patience.toNanos();
    return started.stream().flatMap(call -> answer(call, endNanos).stream()).toList();
  }

  private static Optional<ShardState> answer(Future<Optional<ShardState>> call, long endNanos) {
    try {
      return call.get(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private Optional<ShardState> read(ExpectedSale shard) {
    List<ShardState> found = new ArrayList<>();
    guard.run(guard.partOf(shard.id()), () -> state(shard, call(shard)).ifPresent(found::add));
    return found.stream().findFirst();
  }

  /** Returns the reply of shard_read.lua. */
  List<?> call(ExpectedSale shard) {
    return (List<?>) READ.call(redis, keys(shard), args(shard));
  }

  private static List<String> keys(ExpectedSale shard) {
    return List.of(RedisKeys.sku(shard.id()), RedisKeys.stock(shard.id()));
  }

  private static List<String> args(ExpectedSale shard) {
    return List.of(
        Long.toString(shard.epoch()),
        Long.toString(shard.lastSeq()),
        Long.toString(shard.changeSeq()),
        shard.server());
  }

  private static Optional<ShardState> state(ExpectedSale shard, List<?> reply) {
    return reply.isEmpty() ? Optional.empty() : Optional.of(state(shard.id(), reply));
  }

  /** Purchases wait at several gateways for units of one shard. */
  static ShardState state(long id, List<?> reply) {
    long now = (Long) reply.get(0);
    long units = 0;
    long longest = 0;
    Matcher asked = ASKED.matcher(String.valueOf(reply.get(4)));
    while (asked.find()) {
      long age = now - Long.parseLong(asked.group(2));
      if (Math.abs(age) < ASKED_MS) {
        units += Long.parseLong(asked.group(1));
        longest = Math.max(longest, age);
      }
    }
    return new ShardState(
        id, now, (Long) reply.get(1), (Long) reply.get(2), (Long) reply.get(3), units, longest);
  }
}
