package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.batching.PendingRequest;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads a user's orders that have no result yet, from all partitions of Redis. Concurrent requests
 * share one round trip with one script call per partition, and those of one user are answered
 * together. A single thread sends them, so that purchases in Redis wait for at most one such call
 * at any time, however many users list their orders.
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
  private static final String MOST_FIELDS = "512";

  /** A bucket with more is not read: a millisecond, and 64 times as much as usual. */
  static final int LARGEST_BUCKET = 2_048;

  /** The script's text for such a bucket. */
  private static final String LARGE = "large";

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final BiPredicate<Integer, String> provesAbsence;
  private final RequestBatcher<Request> requests;

  @Autowired
  WaitingOrders(
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
        RedisOrders.answerWithin(client));
  }

  /** {@code provesAbsence}: see {@link VerifiedServers#provesAbsence}. */
  WaitingOrders(
      UnifiedJedis redis,
      RedisBreaker breaker,
      BiPredicate<Integer, String> provesAbsence,
      int queueCapacity,
      Duration answerWithin) {
    this.redis = redis;
    this.breaker = breaker;
    this.provesAbsence = provesAbsence;
    this.requests =
        new RequestBatcher<>(
            "waiting-orders",
            new RequestBatcherProperties(
                1, 1, MOST_USERS, queueCapacity, answerWithin, answerWithin),
            false,
            waiting -> new Reading(waiting).run());
  }

  /**
   * The waiting orders of a user; not complete when one of the buckets is too large to be read, or
   * a former server may have had more.
   */
  record Found(List<RedisOrder> orders, boolean complete) {}

  static final class Request extends PendingRequest {
    private final String user;
    final CompletableFuture<Found> answer = new CompletableFuture<>();

    Request(long userId) {
      this.user = Long.toString(userId);
    }

    @Override
    public void fail(Failure failure) {
      answer.completeExceptionally(ProblemException.of(ProblemCode.STATUS_UNAVAILABLE));
    }
  }

  /**
   * Returns the user's orders that have no result yet. Never blocks.
   *
   * @return fails with 503 STATUS_UNAVAILABLE unless every partition could be read
   */
  CompletableFuture<Found> of(long userId) {
    Request request = new Request(userId);
    if (breaker.isOpenForAll()) {
      request.fail(PendingRequest.Failure.NOT_SENT);
    } else {
      requests.submit(request);
    }
    return request.answer;
  }

  /** A user of a batch, with all its requests; used by the batcher's thread. */
  static final class User {
    final String id;
    private final List<Request> requests;
    private final List<RedisOrder> orders = new ArrayList<>();
    private boolean complete = true;

    User(String id, List<Request> requests) {
      this.id = id;
      this.requests = requests;
    }

    boolean waits() {
      return requests.stream().anyMatch(request -> !request.answer.isDone());
    }

    void answer() {
      requests.forEach(request -> request.answer.complete(new Found(orders, complete)));
    }

    void fail() {
      requests.forEach(request -> request.fail(PendingRequest.Failure.UNKNOWN));
    }
  }

  /** The users of a batch, each once. */
  static List<User> users(List<Request> requests) {
    return requests.stream()
        .collect(Collectors.groupingBy(request -> request.user))
        .entrySet()
        .stream()
        .map(ofUser -> new User(ofUser.getKey(), ofUser.getValue()))
        .toList();
  }

  /** The read of one batch, in as many rounds as its busiest partition needs. */
  private final class Reading {
    private final List<User> users;
    private final int[] done = new int[Partition.COUNT];

    /** SKU after which a partition's next user is continued, or "". */
    private final String[] after = new String[Partition.COUNT];

    Reading(List<Request> requests) {
      users = users(requests);
      Arrays.fill(after, "");
    }

    /** Ends early when nobody waits any longer: every request has had its time. */
    void run() {
      for (List<Integer> open = open(); !open.isEmpty(); open = open()) {
        if (users.stream().noneMatch(User::waits)) {
          return;
        }
        round(open);
      }
      users.forEach(User::answer);
    }

    /** Partitions that have not been read for every user yet. */
    private List<Integer> open() {
      return Partition.ALL.stream().filter(p -> done[p] < users.size()).toList();
    }

    private void round(List<Integer> partitions) {
      List<Object> replies =
          OF_USERS.callEach(
              redis,
              partitions.stream().map(this::keys).toList(),
              partitions.stream().map(this::args).toList());
      for (int i = 0; i < replies.size(); i++) {
        take(partitions.get(i), (List<?>) replies.get(i));
      }
    }

    private List<String> keys(int partition) {
      return List.of(RedisKeys.skus(partition), RedisKeys.absent(partition));
    }

    private List<String> args(int partition) {
      List<String> args = new ArrayList<>();
      args.add(RedisKeys.prefix(partition));
      args.add(MOST_FIELDS);
      args.add(Integer.toString(LARGEST_BUCKET));
      args.add(after[partition]);
      users.subList(done[partition], users.size()).forEach(user -> args.add(user.id));
      return args;
    }

    private void take(int partition, List<?> reply) {
      long now = Long.parseLong(String.valueOf(reply.get(0)));
      if (!provesAbsence.test(partition, String.valueOf(reply.get(3)))) {
        users.forEach(user -> user.complete = false);
      }
      int first = done[partition];
      for (int i = 4; i + 2 < reply.size(); i += 3) {
        User user = users.get(first + Integer.parseInt(String.valueOf(reply.get(i))) - 1);
        add(user, String.valueOf(reply.get(i + 1)), String.valueOf(reply.get(i + 2)), now);
      }
      done[partition] = first + Integer.parseInt(String.valueOf(reply.get(1)));
      after[partition] = String.valueOf(reply.get(2));
    }

    /**
     * Fails the user's requests when an order cannot be decoded: a list without it would claim that
     * it does not exist.
     */
    private void add(User user, String id, String text, long now) {
      if (id.isEmpty() && text.equals(LARGE)) {
        user.complete = false;
        return;
      }
      try {
        RedisOrder order = RedisOrder.parse(OrderId.parse(id), text, now);
        if (order != null) {
          user.orders.add(order);
        }
      } catch (IllegalArgumentException e) {
        log.warn("the record of a waiting order in redis cannot be read");
        user.fail();
      }
    }
  }

  @Override
  public void destroy() {
    requests.close();
  }
}
