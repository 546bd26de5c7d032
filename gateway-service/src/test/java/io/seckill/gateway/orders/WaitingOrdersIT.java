package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.Bounded;
import io.seckill.testing.Eventually;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;

/** What the list of waiting orders reads of a partition. */
@ExtendWith(TestServers.class)
class WaitingOrdersIT {

  private static final int PARTITION = 9;
  private static final long USER = 7;

  /**
   * In partition 9, and above the ids of a hundred SKUs of it: Redis returns a set of integers in
   * ascending order.
   */
  private static final long SKU = 16_000 + PARTITION;

  @AutoClose private final UnifiedJedis redis = TestServers.redis().newDatabase().open();

  @BeforeEach
  void connect() {
    for (int gone = 0; gone < 100; gone++) {
      redis.sadd(RedisKeys.skus(PARTITION), Integer.toString(16 * gone + PARTITION));
    }
  }

  @Test
  void skipsSalesThatAreGone() {
    OrderId order = waitingOrder(SKU);

    assertThat(find(USER)).isEqualTo(new Ids(List.of(order), true));
  }

  @Test
  void listsAnOrderThatIsDelayed() {
    OrderId order = waitingOrder(USER, SKU, OrderStatus.DELAYED);

    assertThat(find(USER)).isEqualTo(new Ids(List.of(order), true));
  }

  @Test
  void listsNoOrderOfAUserWhoseIdBeginsOrEndsAlike() {
    waitingOrder(10 + USER, SKU, OrderStatus.QUEUED);
    waitingOrder(10 * USER + 1, SKU, OrderStatus.QUEUED);
    OrderId order = waitingOrder(SKU);

    assertThat(find(USER)).isEqualTo(new Ids(List.of(order), true));
  }

  @Test
  void readsNoBucketThatOneUserHasMadeLargeAndSaysSo() {
    waitingOrder(SKU);
    OrderId elsewhere = waitingOrder(SKU + 16);
    fill(SKU, WaitingOrders.LARGEST_BUCKET);

    assertThat(find(USER)).isEqualTo(new Ids(List.of(elsewhere), false));
  }

  @Test
  void leavesOutASaleThatCannotBeReadAndSaysSo() {
    waitingOrder(SKU);
    OrderId elsewhere = waitingOrder(SKU + 16);
    redis.set(RedisKeys.sku(SKU), "of another program");

    assertThat(find(USER)).isEqualTo(new Ids(List.of(elsewhere), false));
  }

  @Test
  void readsABucketOfTheLargestSize() {
    OrderId order = waitingOrder(SKU);
    fill(SKU, WaitingOrders.LARGEST_BUCKET - 1);

    assertThat(find(USER)).isEqualTo(new Ids(List.of(order), true));
  }

  @Test
  void continuesAUserWhoseBucketsAreTooManyForOneCall() {
    List<OrderId> placed =
        IntStream.range(0, 20)
            .mapToObj(
                i -> {
                  fill(SKU + 16L * i, 200);
                  return waitingOrder(SKU + 16L * i);
                })
            .toList();

    Ids found = find(USER);

    assertThat(found.complete()).isTrue();
    assertThat(found.orders()).containsExactlyInAnyOrderElementsOf(placed);
  }

  @Test
  void answersEveryRequestOfAUserWhoAsksManyTimesAtOnce() {
    OrderId order = waitingOrder(SKU);
    WaitingOrders orders = orders();
    try {
      List<CompletableFuture<WaitingOrders.Found>> answers =
          Stream.generate(() -> orders.of(USER)).limit(500).toList();

      assertThat(answers)
          .allSatisfy(
              answer ->
                  assertThat(Ids.of(Bounded.get(answer))).isEqualTo(new Ids(List.of(order), true)));
    } finally {
      orders.destroy();
    }
  }

  /** A call with a bound of 100 fields, for sales with 60 fields in the user's bucket. */
  @Test
  void endsACallWithTheBucketThatReachesTheBound() {
    for (int i = 0; i < 4; i++) {
      waitingOrder(SKU + 16L * i);
      fill(SKU + 16L * i, 59);
    }

    assertThat(call("", 7, 8)).containsExactly(0L, Long.toString(SKU + 16), 1L, 1L);
    assertThat(call(Long.toString(SKU + 16), 7, 8)).containsExactly(1L, "", 1L, 1L);
    assertThat(call(Long.toString(SKU + 48), 7, 8)).containsExactly(1L, Long.toString(SKU + 16));
  }

  /** Purchases wait for one call at most, however many sales a search has to read. */
  @Test
  void continuesTheSearchForAnInventedIdInFurtherCalls() {
    for (int i = 0; i < 3; i++) {
      waitingOrder(SKU + 16L * i);
    }

    List<?> first = status(redis, "1", "");

    assertThat(first.get(1)).as("the search goes on after").isNotEqualTo("");
    assertThat(first).as("without an answer").hasSize(3);
    List<?> last = first;
    for (int call = 0; call < 200 && !last.get(1).equals(""); call++) {
      last = status(redis, "1", (String) last.get(1));
    }
    assertThat(last.subList(3, last.size())).as("not found").isEqualTo(List.of(""));
  }

  /** What a replica lacks, its primary may have. */
  @Test
  void aReplicaDoesNotSayWhichServerItIs() {
    try (RedisServer server = RedisServer.start();
        UnifiedJedis client = server.open();
        Jedis operator = new Jedis(server.host(), server.port())) {
      assertThat(servers(client)).allMatch(id -> id.matches("[0-9a-f]{40}"));

      operator.replicaof("127.0.0.1", 1); // nobody listens there

      assertThat(servers(client)).containsOnly("");
    }
  }

  /** The replication id in the replies of both scripts, for an order that is not there. */
  private static List<String> servers(UnifiedJedis client) {
    List<String> keys = List.of(RedisKeys.skus(PARTITION));
    List<?> waiting =
        (List<?>)
            LuaScript.from(WaitingOrders.class, "waiting_orders.lua")
                .call(client, keys, List.of(RedisKeys.prefix(PARTITION), "100", "1000", "", "7"));
    return List.of((String) waiting.get(3), (String) status(client, "100", "").get(2));
  }

  /** The reply of a search for an order that is not there, which goes on after this SKU. */
  private static List<?> status(UnifiedJedis client, String most, String after) {
    return (List<?>)
        LuaScript.from(RedisOrders.class, "order_status.lua")
            .call(
                client,
                List.of(RedisKeys.skus(PARTITION)),
                List.of(most, after, "1", "900", "7", ""));
  }

  /** The reply without the clock, and of each order only the number of its user. */
  private List<Object> call(String after, long... users) {
    List<String> args =
        Stream.concat(
                Stream.of(RedisKeys.prefix(PARTITION), "100", "1000", after),
                IntStream.range(0, users.length).mapToObj(i -> Long.toString(users[i])))
            .toList();
    List<?> reply =
        (List<?>)
            LuaScript.from(WaitingOrders.class, "waiting_orders.lua")
                .call(redis, List.of(RedisKeys.skus(PARTITION)), args);
    return IntStream.range(1, reply.size())
        .filter(i -> i < 3 || (i > 3 && i % 3 == 1))
        .<Object>mapToObj(reply::get)
        .toList();
  }

  private record Ids(List<OrderId> orders, boolean complete) {
    static Ids of(WaitingOrders.Found found) {
      return new Ids(found.orders().stream().map(RedisOrder::id).toList(), found.complete());
    }
  }

  private Ids find(long user) {
    WaitingOrders orders = orders();
    try {
      return Ids.of(Bounded.get(orders.of(user)));
    } finally {
      orders.destroy();
    }
  }

  private WaitingOrders orders() {
    return new WaitingOrders(
        redis,
        RedisBreakers.of(redis, meters()),
        (partition, server) -> true,
        1_000,
        Eventually.SOON);
  }

  /** Adds fields as buying and cancelling leaves them. */
  private void fill(long sku, int fields) {
    Map<String, String> requests = new HashMap<>();
    for (int i = 0; i < fields; i++) {
      requests.put(USER + ":key-" + i, i + ":1");
    }
    redis.hset(RedisKeys.bucket(sku, 0), requests);
  }

  private OrderId waitingOrder(long sku) {
    return waitingOrder(USER, sku, OrderStatus.QUEUED);
  }

  private OrderId waitingOrder(long user, long sku, OrderStatus status) {
    int sequence = (int) ((sku / 16 + user) % 1024);
    OrderId id = OrderId.of(System.currentTimeMillis(), PARTITION, 1, sequence);
    redis.sadd(RedisKeys.skus(PARTITION), Long.toString(sku));
    redis.hset(RedisKeys.sku(sku), Map.of("bucketCount", "1", "settled", "0"));
    AdmissionRecord record =
        new AdmissionRecord(
            user, "key-0001", 1, 1, id.timeMs(), 1, status, null, id.timeMs(), null);
    redis.hset(RedisKeys.bucket(sku, 0), id.toString(), record.format());
    return id;
  }

  private static SimpleMeterRegistry meters() {
    return new SimpleMeterRegistry();
  }
}
