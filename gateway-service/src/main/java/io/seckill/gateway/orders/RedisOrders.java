package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.PendingRequest;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.gateway.verification.VerifiedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads orders from Redis: concurrent readers share a script call, or several where ids without an
 * order are looked for in many sales. No caller waits longer than {@link #answerWithin}, and none
 * waits at all while the breaker is open.
 */
@Component
final class RedisOrders implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(RedisOrders.class);
  private static final LuaScript STATUS = LuaScript.from(RedisOrders.class, "order_status.lua");
  private static final int MAX_BATCH = 64;

  /** Members of the script's reply, and of its arguments, before those of the orders. */
  private static final int REPLY_HEAD = 3;

  private static final int ARGS_HEAD = 2;

  /** Batches at once; more would take Redis away from purchases. */
  private static final int THREADS = 2;

  /** A fraction of a millisecond; see the script. */
  static final int MOST_READS = 256;

  private static final Duration ANSWER_WITHIN = Duration.ofMillis(300);

  /** For what a read that Redis answers in time needs besides. */
  private static final Duration MARGIN = Duration.ofMillis(50);

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final BiPredicate<Integer, String> provesAbsence;
  private final RequestBatcher<Read> reads;

  @Autowired
  RedisOrders(
      UnifiedJedis redis,
      RedisSettings client,
      RedisBreaker breaker,
      VerifiedServers servers,
      OrderProperties settings) {
    this(
        redis,
        breaker,
        servers::provesAbsence,
        settings.queueCapacity(),
        THREADS,
        answerWithin(client));
  }

  /** {@code provesAbsence}: see {@link VerifiedServers#provesAbsence}. */
  RedisOrders(
      UnifiedJedis redis,
      RedisBreaker breaker,
      BiPredicate<Integer, String> provesAbsence,
      int queueCapacity,
      int threads,
      Duration answerWithin) {
    this.redis = redis;
    this.breaker = breaker;
    this.provesAbsence = provesAbsence;
    this.reads =
        new RequestBatcher<>(
            "status",
            new RequestBatcherProperties(
                threads, 1, MAX_BATCH, queueCapacity, answerWithin, answerWithin),
            RedisClients.areApart(redis),
            this::execute);
  }

  /**
   * Longest wait for Redis; after it the order is read from MySQL, or a list gets 503. Longer than
   * the client's time-out, which an operator may have raised.
   */
  static Duration answerWithin(RedisSettings client) {
    Duration timeout = client.socketTimeout().plus(MARGIN);
    return timeout.compareTo(ANSWER_WITHIN) > 0 ? timeout : ANSWER_WITHIN;
  }

  /** One caller's read within a batch. */
  private static final class Read extends PendingRequest {
    private final OrderId id;
    private final String user;
    private final String skuHint;
    private final CompletableFuture<LookupResult<RedisOrder>> result = new CompletableFuture<>();

    Read(OrderId id, long userId, @Nullable Long skuHint) {
      this.id = id;
      this.user = Long.toString(userId);
      this.skuHint = skuHint == null ? "" : skuHint.toString();
    }

    @Override
    protected int partition() {
      return id.partition();
    }

    boolean isSearch() {
      return skuHint.isEmpty();
    }

    boolean waits() {
      return !result.isDone();
    }

    @Override
    public void fail(Failure failure) {
      result.complete(LookupResult.unknown());
    }
  }

  /**
   * Reads the user's order from its bucket in Redis, of the SKU that the hint names, or without one
   * of each SKU in the partition. Not known is also an order that another server may have had. The
   * future never fails.
   */
  CompletableFuture<LookupResult<RedisOrder>> read(
      OrderId id, long userId, @Nullable Long skuHint) {
    Read read = new Read(id, userId, skuHint);
    if (breaker.isOpen(id.partition())) {
      read.fail(PendingRequest.Failure.NOT_SENT);
    } else {
      reads.submit(read);
    }
    return read.result;
  }

  /** Orders whose SKU is known come first: those behind a search wait for it. */
  private void execute(List<Read> batch) {
    List<Read> left = batch.stream().sorted(Comparator.comparing(Read::isSearch)).toList();
    String after = "";
    while (left.stream().anyMatch(Read::waits)) {
      List<?> reply = call(left, after);
      long now = Long.parseLong(String.valueOf(reply.get(0)));
      after = String.valueOf(reply.get(1));
      String server = String.valueOf(reply.get(2));
      int done = reply.size() - REPLY_HEAD;
      for (int i = 0; i < done; i++) {
        Read read = left.get(i);
        String text = String.valueOf(reply.get(REPLY_HEAD + i));
        read.result.complete(
            text.isEmpty() && !provesAbsence.test(read.partition(), server)
                ? LookupResult.unproven()
                : result(read.id, text, now));
      }
      left = left.subList(done, left.size());
    }
  }

  private List<?> call(List<Read> reads, String after) {
    List<Integer> partitions = reads.stream().map(Read::partition).distinct().toList();
    List<String> keys =
        Stream.concat(
                partitions.stream().map(RedisKeys::skus),
                Stream.of(RedisKeys.absent(partitions.get(0))))
            .toList();
    List<String> args = args(partitions, reads, after);
    return (List<?>) breaker.call(partitions.get(0), () -> STATUS.call(redis, keys, args));
  }

  /** A record that cannot be decoded makes its own order unknown, and no other. */
  private static LookupResult<RedisOrder> result(OrderId id, String reply, long now) {
    try {
      return LookupResult.of(RedisOrder.parse(id, reply, now));
    } catch (IllegalArgumentException e) {
      log.warn("the record of order {} in redis cannot be read", id);
      return LookupResult.unknown();
    }
  }

  private static List<String> args(List<Integer> partitions, List<Read> reads, String after) {
    List<String> args = new ArrayList<>(ARGS_HEAD + 4 * reads.size());
    args.add(Integer.toString(MOST_READS));
    args.add(after);
    for (Read read : reads) {
      args.add(Integer.toString(partitions.indexOf(read.partition()) + 1));
      args.add(read.id.toString());
      args.add(read.user);
      args.add(read.skuHint);
    }
    return args;
  }

  @Override
  public void destroy() {
    reads.close();
  }
}
