package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.recovery.LaneLease;
import io.seckill.relay.recovery.LaneLeaseRenewer;
import io.seckill.relay.recovery.LeaseFencedException;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** claim, settle, adopt, renew and forget on a real Redis, without lanes. */
@ExtendWith(TestServers.class)
class ScriptsIT {

  private static final String OWN = "me:0:aa";
  private static final String OTHER = "other:0:bb";
  private static final long SKU = 1600;
  private static final Duration AT_ONCE = Duration.ZERO;

  private long deadOrders;
  private long forgettable;

  @AutoClose
  private final TestOutbox outbox = new TestOutbox(TestServers.redis().newDatabase().url());

  private final PrivateQueue queue = new PrivateQueue(outbox.redis(), 0, OWN);

  @BeforeEach
  void connect() {
    lease(OWN, System.currentTimeMillis() + 60_000);
  }

  @Test
  void claimMovesTheOldestFirstUpToTheRoom() throws Exception {
    List<String> admitted = outbox.admit(10, SKU);

    assertThat(ids(settleAndClaim(List.of(), 4).taken())).isEqualTo(admitted.subList(0, 4));
    assertThat(ids(settleAndClaim(List.of(), 20).taken())).isEqualTo(admitted.subList(4, 10));
    assertThat(settleAndClaim(List.of(), 20).queueLength()).isEqualTo(10);
    assertThat(ids(queue.contents(3))).isEqualTo(admitted.subList(0, 3));
  }

  @Test
  void aBlockingClaimAndTheMovesBehindItAreOneRoundTrip() throws Exception {
    List<String> admitted = outbox.admit(10, SKU);
    ClaimResult claimed = queue.settleAndClaim(List.of(), 5, Duration.ofSeconds(1));
    assertThat(ids(claimed.taken())).isEqualTo(admitted.subList(0, 5));
  }

  @Test
  void aFencedLeaseClaimsAndSettlesNothing() throws Exception {
    outbox.admit(2, SKU);
    List<OutboundOrder> taken = read(settleAndClaim(List.of(), 1).taken());
    lease(OWN, -1);

    assertThatThrownBy(() -> settleAndClaim(List.of(), 5)).isInstanceOf(LeaseFencedException.class);
    assertThatThrownBy(() -> settleAndClaim(taken, 0)).isInstanceOf(LeaseFencedException.class);
    assertThat(outbox.waiting()).isEqualTo(1);
    assertThat(outbox.inPrivateQueues()).isEqualTo(1);
  }

  @Test
  void aLeaseUnknownToTheRegistryClaimsNothing() {
    outbox.admit(1, SKU);
    outbox.redis().del(RedisKeys.lanes(0));
    assertThatThrownBy(() -> settleAndClaim(List.of(), 5)).isInstanceOf(LeaseFencedException.class);
    assertThat(outbox.waiting()).isEqualTo(1);
  }

  /** facts.md 12: removes by value, and counts an order only when it was in the queue. */
  @Test
  void settleRemovesByValueAndCountsOnce() throws Exception {
    outbox.preheat(SKU);
    outbox.admit(5, SKU);
    List<OutboundOrder> taken = read(settleAndClaim(List.of(), 5).taken());
    List<OutboundOrder> middle = taken.subList(1, 3);

    assertThat(settleAndClaim(middle, 0).queueLength()).isEqualTo(3);
    assertThat(settleAndClaim(middle, 0).queueLength()).isEqualTo(3);
    assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(2);
    assertThat(outbox.counter(SKU, "publishedUnits"))
        .isEqualTo(middle.stream().mapToLong(order -> order.message().quantity()).sum());
    assertThat(ids(queue.contents(9)))
        .isEqualTo(
            List.of(taken.get(0), taken.get(3), taken.get(4)).stream()
                .map(order -> order.message().orderId().toString())
                .toList());
  }

  /** Calls that push to one queue at the same moment are delivered, and confirmed, in any order. */
  @Test
  void settleSearchesOnlyForOrdersBehindAnUnconfirmedOne() throws Exception {
    outbox.preheat(SKU);
    List<String> admitted = outbox.admit(8, SKU);
    List<OutboundOrder> taken = read(settleAndClaim(List.of(), 8).taken());
    long searched = searches();

    settleAndClaim(List.of(taken.get(1), taken.get(0), taken.get(3), taken.get(2)), 0);
    assertThat(searches()).isEqualTo(searched);

    settleAndClaim(List.of(taken.get(4), taken.get(7), taken.get(5)), 0);
    assertThat(searches()).isEqualTo(searched + 1);
    assertThat(ids(queue.contents(9))).containsExactly(admitted.get(6));
    assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(7);
  }

  /** A repeat may be pushed again while its order is still in the queue. */
  @Test
  void settleRemovesEqualOrdersAsOftenAsTheyWereConfirmed() throws Exception {
    outbox.preheat(SKU);
    outbox.admit(1, SKU);
    byte[] entry = settleAndClaim(List.of(), 1).taken().get(0);
    byte[] key = RedisKeys.privateQueue(0, OWN).getBytes(StandardCharsets.UTF_8);
    outbox.redis().lpush(key, entry, entry);

    assertThat(settleAndClaim(read(List.of(entry, entry)), 0).queueLength()).isEqualTo(1);
    assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(2);
    assertThat(settleAndClaim(read(List.of(entry, entry)), 0).queueLength()).isEqualTo(0);
    assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(3);
  }

  @Test
  void settleRemovesOneOfTwoEqualOrdersBehindAnUnconfirmedOne() throws Exception {
    outbox.preheat(SKU);
    outbox.admit(2, SKU);
    byte[] entry = settleAndClaim(List.of(), 2).taken().get(1);
    byte[] key = RedisKeys.privateQueue(0, OWN).getBytes(StandardCharsets.UTF_8);
    outbox.redis().lpush(key, entry);

    assertThat(settleAndClaim(read(List.of(entry)), 0).queueLength()).isEqualTo(2);
    assertThat(outbox.counter(SKU, "publishedOrders")).isEqualTo(1);
  }

  @Test
  void nothingMovesWhenThePrivateQueueIsOfAnotherType() {
    outbox.admit(3, SKU);
    outbox.redis().set(RedisKeys.privateQueue(0, OWN), "foreign");
    assertThatThrownBy(() -> settleAndClaim(List.of(), 5)).isInstanceOf(JedisDataException.class);
    assertThat(outbox.waiting()).isEqualTo(3);
  }

  @Test
  void adoptFencesADeadLeaseAndTakesABoundedNumberOldestFirst() throws Exception {
    lease(OTHER, System.currentTimeMillis() - 1);
    List<String> orders = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      orders.add(outbox.claimLate(OTHER, SKU));
    }
    assertThat(ids(adopt(3))).isEqualTo(orders.subList(0, 3));
    assertThat(score(OTHER)).isNegative();
    assertThat(ids(adopt(3))).isEqualTo(orders.subList(3, 5));
    assertThat(adopt(3)).isEmpty();
    assertThat(ids(queue.contents(9))).isEqualTo(orders);
  }

  @Test
  void adoptLeavesALeaseInForceAloneAndRequiresOne() throws Exception {
    outbox.claimLate(OTHER, SKU);
    lease(OTHER, System.currentTimeMillis() + 60_000);
    assertThat(adopt(3)).isEmpty();

    lease(OTHER, -1);
    lease(OWN, -1);
    assertThatThrownBy(() -> adopt(3)).isInstanceOf(LeaseFencedException.class);
    assertThat(outbox.redis().llen(RedisKeys.privateQueue(0, OTHER))).isEqualTo(1);
  }

  /** The lane itself renews it, or ends. */
  @Test
  void adoptLeavesItsOwnLapsedLeaseAlone() throws Exception {
    lease(OWN, System.currentTimeMillis() - 1);
    String order = outbox.claimLate(OWN, SKU);

    assertThat(queue.adopt(OWN, 3)).isEmpty();
    assertThat(score(OWN)).isPositive();
    assertThat(ids(queue.contents(9))).containsExactly(order);
  }

  /** A lease that expired, say while Redis was unavailable, stays valid until it is fenced. */
  @Test
  void renewRevivesALapsedLeaseButNotAFencedOne() {
    lease(OWN, System.currentTimeMillis() - 5_000);
    lease(OTHER, -System.currentTimeMillis());
    renew(60_000, OWN, OTHER);
    assertThat(score(OWN)).isGreaterThan(System.currentTimeMillis());
    assertThat(score(OTHER)).isNegative();
  }

  /** The long leases were given before Redis's clock was set back; the script renews for 5 s. */
  @Test
  void renewCutsALeaseThatEndsLaterThanOneGivenNow() {
    lease(OWN, System.currentTimeMillis() + 3_600_000);
    lease(OTHER, System.currentTimeMillis() + 3_600_000);
    lease("short:0:cc", System.currentTimeMillis() + 1_000);
    long endOfTheShort = score("short:0:cc");

    renew(60_000, OWN);

    assertThat(score(OWN)).isLessThanOrEqualTo(System.currentTimeMillis() + 5_000);
    assertThat(score(OTHER)).isEqualTo(score(OWN));
    assertThat(score("short:0:cc")).isEqualTo(endOfTheShort);
  }

  @Test
  void renewNamesDeadQueuesWithOrdersAndForgetRemovesThoseLongEmpty() {
    long now = System.currentTimeMillis();
    lease("dead:full", -(now - 100_000));
    outbox.claimLate("dead:full", SKU);
    lease("dead:long-empty", -(now - 100_000));
    lease("lapsed:long-empty", now - 100_000);
    lease("dead:just-empty", -(now - 1_000));

    assertThat(renew(60_000, OWN)).containsExactly("dead:full");
    assertThat(deadOrders).isEqualTo(1);
    assertThat(forgettable).isEqualTo(2);
    assertThat(forget(60_000)).isEqualTo(2);
    assertThat(outbox.redis().zrange(RedisKeys.lanes(0), 0, -1))
        .containsExactlyInAnyOrder(OWN, "dead:full", "dead:just-empty");
  }

  @Test
  void aFullRedisIsEmptied() throws Exception {
    try (RedisServer full = RedisServer.start("maxmemory-policy noeviction");
        TestOutbox its = new TestOutbox(full.newDatabase().url())) {
      its.preheat(SKU);
      List<String> admitted = its.admit(3, SKU);
      String left = its.claimLate(OTHER, SKU);
      its.redis().zadd(RedisKeys.lanes(0), 1, OTHER); // its lease has ended
      its.redis().configSet("maxmemory", "1");

      String token = new LaneLease("me", 0, 0, Duration.ofMinutes(1)).begin(its.redis());
      PrivateQueue lane = new PrivateQueue(its.redis(), 0, token);
      List<byte[]> adopted = lane.adopt(OTHER, 1);
      ClaimResult waited = lane.settleAndClaim(List.of(), 3, Duration.ofSeconds(1));
      List<byte[]> claimed = new ArrayList<>(waited.taken());
      claimed.addAll(lane.settleAndClaim(List.of(), 3, AT_ONCE).taken());
      renew(its.redis(), 60_000, token);

      assertThat(ids(adopted)).containsExactly(left);
      assertThat(waited.refused()).as("the wait for the first").isTrue();
      assertThat(waited.taken()).hasSize(2);
      assertThat(ids(claimed)).isEqualTo(admitted);
      assertThat(lane.settleAndClaim(read(claimed), 0, AT_ONCE).queueLength()).isEqualTo(1);
      assertThat(its.counter(SKU, "publishedOrders")).isEqualTo(3);
    }
  }

  /** Returns how many orders of any queue were searched for by value so far. */
  private long searches() {
    Matcher calls =
        Pattern.compile("cmdstat_lrem:calls=(\\d+)").matcher(outbox.redis().info("commandstats"));
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  private ClaimResult settleAndClaim(List<OutboundOrder> confirmed, int most)
      throws LeaseFencedException {
    return queue.settleAndClaim(confirmed, most, AT_ONCE);
  }

  private List<byte[]> adopt(int most) throws LeaseFencedException {
    return queue.adopt(OTHER, most);
  }

  private List<String> renew(long quietMs, String... tokens) {
    return renew(outbox.redis(), quietMs, tokens);
  }

  private List<String> renew(UnifiedJedis redis, long quietMs, String... tokens) {
    List<String> args =
        new ArrayList<>(List.of("5000", Long.toString(quietMs), RedisKeys.privateQueue(0, "")));
    args.addAll(List.of(tokens));
    List<?> reply =
        (List<?>)
            LuaScript.from(LaneLeaseRenewer.class, "renew.lua")
                .call(redis, List.of(RedisKeys.lanes(0)), args);
    deadOrders = (Long) reply.get(1);
    forgettable = (Long) reply.get(2);
    return reply.stream().skip(4 + (Long) reply.get(3)).map(String.class::cast).toList();
  }

  private long forget(long quietMs) {
    List<String> keys = List.of(RedisKeys.lanes(0), RedisKeys.privateQueue(0, ""));
    return (Long)
        LuaScript.from(LaneLeaseRenewer.class, "forget.lua")
            .call(outbox.redis(), keys, List.of(Long.toString(quietMs)));
  }

  private void lease(String token, long score) {
    outbox.redis().zadd(RedisKeys.lanes(0), (double) score, token);
  }

  private long score(String token) {
    return outbox.redis().zscore(RedisKeys.lanes(0), token).longValue();
  }

  private static List<OutboundOrder> read(List<byte[]> entries) {
    return entries.stream().map(entry -> OutboundOrder.of(entry, 0)).toList();
  }

  private static List<String> ids(List<byte[]> entries) throws Exception {
    List<String> ids = new ArrayList<>();
    for (byte[] entry : entries) {
      OrderMessage message = OrderMessageCodec.decode(new String(entry, StandardCharsets.UTF_8));
      ids.add(message.orderId().toString());
    }
    return ids;
  }
}
