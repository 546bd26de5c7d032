package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.PendingRequest;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RequestBatcher;
import io.seckill.gateway.backends.RequestBatcherProperties;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads a user's orders that have no result yet, from all partitions of Redis. Concurrent requests
 * share one round trip with one script call per partition. A single thread sends them, so that
 * purchases in Redis wait for at most one such call at any time, however many users list their
 * orders.
 *
 * <p>Failures here are not counted by the circuit breaker, which guards purchases; while it is
 * open, Redis is not queried.
 */
@Component
final class WaitingOrders implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(WaitingOrders.class);
  private static final LuaScript OF_USERS =
      LuaScript.from(WaitingOrders.class, "waiting_orders.lua");

  private static final int MOST_USERS = 64;

  /** Some 16 buckets of 30 fields, a fraction of a millisecond; see the script. */
  private static final String MOST_WORK = "128";

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final RequestBatcher<Request> requests;

  WaitingOrders(UnifiedJedis redis, RedisBreaker breaker, OrderProperties settings) {
    this.redis = redis;
    this.breaker = breaker;
    this.requests =
        new RequestBatcher<>(
            "waiting-orders",
            new RequestBatcherProperties(
                1,
                1,
                MOST_USERS,
                settings.queueCapacity(),
                RedisOrders.ANSWER_WITHIN,
                RedisOrders.ANSWER_WITHIN),
            false,
            users -> new Reading(users).run());
  }

  /** One user's request within a batch. */
  private static final class Request extends PendingRequest {
    private final String user;
    private final List<RedisOrder> found = new ArrayList<>(); // used by the batcher's thread
    private final CompletableFuture<List<RedisOrder>> answer = new CompletableFuture<>();

    Request(long userId) {
      this.user = Long.toString(userId);
    }

    @Override
    public void fail(Failure failure) {
      answer.completeExceptionally(ProblemException.of(ProblemCode.STATUS_UNAVAILABLE));
    }
  }

  /**
   * Returns all of the user's orders that have no result yet. Never blocks.
   *
   * @return fails with 503 STATUS_UNAVAILABLE unless every partition could be read
   */
  CompletableFuture<List<RedisOrder>> of(long userId) {
    Request request = new Request(userId);
    if (breaker.isOpenForAll() || !requests.offer(request)) {
      request.fail(PendingRequest.Failure.NOT_SENT);
    }
    return request.answer;
  }

  /** The read of one batch, in as many rounds as its busiest partition needs. */
  private final class Reading {
    private final List<Request> users;
    private final int[] done = new int[Partition.COUNT];

    Reading(List<Request> users) {
      this.users = users;
    }

    void run() {
      for (List<Integer> open = open(); !open.isEmpty(); open = open()) {
        round(open);
      }
      users.forEach(user -> user.answer.complete(user.found));
    }

    /** Partitions that have not been read for every user yet. */
    private List<Integer> open() {
      return IntStream.range(0, Partition.COUNT)
          .filter(p -> done[p] < users.size())
          .boxed()
          .toList();
    }

    private void round(List<Integer> partitions) {
      TreeMap<Integer, Response<Object>> replies = new TreeMap<>();
      try (AbstractPipeline pipeline = redis.pipelined()) {
        for (int p : partitions) {
          replies.put(p, OF_USERS.queue(pipeline, keys(p), args(p)));
        }
        pipeline.sync();
      }
      replies.forEach(
          (p, reply) -> take(p, (List<?>) OF_USERS.answer(reply, redis, keys(p), args(p))));
    }

    private List<String> keys(int partition) {
      return List.of(RedisKeys.skus(partition));
    }

    private List<String> args(int partition) {
      List<String> args = new ArrayList<>();
      args.add(RedisKeys.prefix(partition));
      args.add(MOST_WORK);
      users.subList(done[partition], users.size()).forEach(user -> args.add(user.user));
      return args;
    }

    private void take(int partition, List<?> reply) {
      long now = Long.parseLong(String.valueOf(reply.get(0)));
      int first = done[partition];
      for (int i = 2; i + 2 < reply.size(); i += 3) {
        Request user = users.get(first + Integer.parseInt(String.valueOf(reply.get(i))) - 1);
        add(user, String.valueOf(reply.get(i + 1)), String.valueOf(reply.get(i + 2)), now);
      }
      done[partition] = first + Integer.parseInt(String.valueOf(reply.get(1)));
    }

    /**
     * Fails the request when an order cannot be decoded: a list without it would claim that it does
     * not exist.
     */
    private void add(Request user, String id, String text, long now) {
      try {
        RedisOrder order = RedisOrder.parse(OrderId.parse(id), text, now);
        if (order != null) {
          user.found.add(order);
        }
      } catch (IllegalArgumentException e) {
        log.warn("the record of a waiting order in redis cannot be read");
        user.fail(PendingRequest.Failure.UNKNOWN);
      }
    }
  }

  @Override
  public void destroy() {
    requests.close();
  }
}
