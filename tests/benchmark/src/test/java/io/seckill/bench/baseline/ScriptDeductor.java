package io.seckill.bench.baseline;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Users;
import io.seckill.common.redis.LuaScript;
import io.seckill.testing.Bounded;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import redis.clients.jedis.UnifiedJedis;

/**
 * The usual recipe: {@code deduct.lua} takes the cent in Redis and appends the deduction to a list,
 * which is trimmed to its last 100,000; a worker moves the list to MySQL. The client is answered
 * before the worker. Used by all clients.
 */
public final class ScriptDeductor implements Deductor {

  private static final LuaScript SCRIPT = LuaScript.from(ScriptDeductor.class, "deduct.lua");
  private static final String PREFIX = "bench:{wallet}:";
  private static final String LIST = PREFIX + "deductions";
  private static final int MOST = 512;
  private static final int MOST_KEYS = 10_000;
  private static final long IDLE_NANOS = 1_000_000;

  private final UnifiedJedis redis;
  private final Users users;
  private final Thread worker;
  private final AtomicBoolean isPaused = new AtomicBoolean();
  private volatile boolean isClosed;

  /** Gives each user this many cents in Redis, and starts the worker. */
  public ScriptDeductor(Lab lab, Users users, long cents) throws SQLException {
    this.redis = lab.redis();
    this.users = users;
    parts().forEach(part -> redis.mset(balances(part, cents)));
    Connection mysql = lab.mysql();
    this.worker = new Thread(() -> move(mysql), "deduction-worker");
    worker.setDaemon(true);
    worker.start();
  }

  /** The keys of all balances, some thousand at a time. */
  private Stream<List<String>> parts() {
    long last = users.first() + users.count();
    return LongStream.iterate(users.first(), first -> first < last, first -> first + MOST_KEYS)
        .mapToObj(
            first ->
                LongStream.range(first, Math.min(last, first + MOST_KEYS))
                    .mapToObj(ScriptDeductor::balance)
                    .toList());
  }

  private static String[] balances(List<String> keys, long cents) {
    return keys.stream()
        .flatMap(key -> Stream.of(key, Long.toString(cents)))
        .toArray(String[]::new);
  }

  private static String balance(long userId) {
    return PREFIX + "balance:" + userId;
  }

  @Override
  public boolean deduct(Deduction deduction) {
    List<String> keys =
        List.of(
            balance(deduction.userId()),
            PREFIX + "key:" + deduction.userId() + ":" + deduction.requestId(),
            LIST);
    String entry = deduction.userId() + ":" + deduction.chargeId();
    return "DONE".equals(SCRIPT.call(redis, keys, List.of(entry)));
  }

  /** Stops the worker for a while, as a crash, a deployment or a slow MySQL does. */
  public void pauseWorker(boolean pause) {
    isPaused.set(pause);
  }

  /** Deductions in the list. */
  public long waiting() {
    return redis.llen(LIST);
  }

  /** Reads, stores, removes: a crash in between stores the same again, and fails at the key. */
  private void move(Connection connection) {
    try (Connection mysql = connection) {
      DeductionBatch rows = new DeductionBatch(mysql);
      while (!isClosed) {
        List<String> entries = isPaused.get() ? List.of() : redis.lrange(LIST, 0, MOST - 1);
        if (entries.isEmpty()) {
          LockSupport.parkNanos(IDLE_NANOS);
          continue;
        }
        var unused = rows.store(entries.stream().map(ScriptDeductor::deduction).toList());
        redis.ltrim(LIST, entries.size(), -1);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Deduction deduction(String entry) {
    String[] parts = entry.split(":", 2);
    return new Deduction(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
  }

  /** Deletes balances and list; the keys expire. */
  @Override
  public void close() {
    isClosed = true;
    Bounded.join(worker);
    redis.unlink(LIST);
    parts().forEach(part -> redis.unlink(part.toArray(String[]::new)));
  }
}
