package io.seckill.relay.lane;

import static io.seckill.common.redis.BinaryScript.bytes;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.BinaryScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The Redis commands of a lane, over one connection and for one lease. After any exception of Redis
 * the outcome is unknown: the private queue may hold orders that the caller has not received.
 */
final class PrivateQueue {

  private static final Logger log = LoggerFactory.getLogger(PrivateQueue.class);
  private static final BinaryScript CLAIM = BinaryScript.from(PrivateQueue.class, "claim.lua");
  private static final BinaryScript SETTLE = BinaryScript.from(PrivateQueue.class, "settle.lua");
  private static final BinaryScript ADOPT = BinaryScript.from(PrivateQueue.class, "adopt.lua");
  private static final long OWN_LEASE_OVER = -1;
  private static final byte[] NONE = bytes(0);

  private final UnifiedJedis redis;
  private final int partition;
  private final String token;
  private final byte[] tokenBytes;
  private final byte[] outbox;
  private final byte[] queue;
  private final byte[] lanes;

  PrivateQueue(UnifiedJedis redis, int partition, String token) {
    this.redis = redis;
    this.partition = partition;
    this.token = token;
    this.tokenBytes = bytes(token);
    this.outbox = bytes(RedisKeys.outbox(partition));
    this.queue = bytes(RedisKeys.privateQueue(partition, token));
    this.lanes = bytes(RedisKeys.lanes(partition));
  }

  String token() {
    return token;
  }

  /**
   * Settles confirmed orders and takes new ones, in one round trip.
   *
   * @param confirmed orders to remove from the private queue and to count; repeating is harmless
   * @param most most orders to take, 0..4096
   * @param wait longest wait for the first order, whole seconds; zero does not wait. The time-out
   *     of the caller's connection must be longer
   * @throws LeaseFencedException when this lease was fenced; other lanes adopt the orders that were
   *     taken
   * @throws redis.clients.jedis.exceptions.JedisException when the outcome is unknown
   */
  @SuppressWarnings("deprecation") // claims use BRPOPLPUSH, which Redis 7 and 8 support
  ClaimResult settleAndClaim(List<OutboundOrder> confirmed, int most, Duration wait)
      throws LeaseFencedException {
    boolean blocking = most > 0 && wait.toSeconds() > 0;
    Settlement settlement = new Settlement(confirmed);
    List<byte[]> claimKeys = List.of(outbox, queue, lanes);
    List<byte[]> claimArgs = List.of(tokenBytes, bytes(blocking ? most - 1 : most));
    Response<Object> settled = null;
    Response<byte[]> first = null;
    Response<Object> claimed;
    try (AbstractPipeline pipeline = redis.pipelined()) {
      if (!confirmed.isEmpty()) {
        settled = SETTLE.queue(pipeline, settlement.keys, settlement.args);
      }
      if (blocking) {
        first = pipeline.brpoplpush(outbox, queue, (int) wait.toSeconds());
      }
      claimed = CLAIM.queue(pipeline, claimKeys, claimArgs);
      pipeline.sync();
    }
    long removedLate = 0;
    if (settled != null) {
      boolean late = PipelineReplies.wasNotRun(settled); // then it runs now, after the claim
      long removed = unlessFenced(SETTLE.answer(settled, redis, settlement.keys, settlement.args));
      removedLate = late ? removed : 0;
    }
    List<byte[]> taken = new ArrayList<>();
    boolean refused = first != null && !addUnlessFull(first, taken);
    List<Object> reply = CLAIM.answer(claimed, redis, claimKeys, claimArgs);
    long length = unlessFenced(reply) - removedLate;
    for (int i = 1; i < reply.size(); i++) {
      taken.add((byte[]) reply.get(i));
    }
    return new ClaimResult(taken, length, refused);
  }

  /** Returns false when BRPOPLPUSH was refused because Redis is full; claim.lua still runs then. */
  private static boolean addUnlessFull(Response<byte[]> first, List<byte[]> taken) {
    try {
      byte @Nullable [] order = PipelineReplies.get(first);
      if (order != null) {
        taken.add(order);
      }
      return true;
    } catch (JedisDataException e) {
      if (String.valueOf(e.getMessage()).startsWith("OOM")) {
        return false;
      }
      throw e;
    }
  }

  /** Returns the number in a script's reply, which is negative when this lease is over. */
  private long unlessFenced(List<Object> reply) throws LeaseFencedException {
    long number = (Long) reply.get(0);
    if (number < 0) {
      throw new LeaseFencedException(token);
    }
    return number;
  }

  /** Returns the oldest orders of the private queue, oldest first, at most {@code most}. */
  List<byte[]> contents(int most) {
    List<byte[]> oldestFirst = new ArrayList<>(redis.lrange(queue, -most, -1));
    Collections.reverse(oldestFirst);
    return oldestFirst;
  }

  /**
   * Moves orders from a dead lane's private queue to this one, oldest first, and fences the dead
   * lease.
   *
   * @param dead token of a lease that has ended, of the same partition
   * @param most 1..4096
   * @return orders moved; empty when none was left or that lease is in force or this one's own
   * @throws LeaseFencedException when this lease is over; nothing was moved
   */
  List<byte[]> adopt(String dead, int most) throws LeaseFencedException {
    if (dead.equals(token)) {
      return List.of();
    }
    List<byte[]> keys = List.of(lanes, queue, bytes(RedisKeys.privateQueue(partition, dead)));
    List<Object> reply = ADOPT.call(redis, keys, List.of(tokenBytes, bytes(dead), bytes(most)));
    if ((Long) reply.get(0) == OWN_LEASE_OVER) {
      throw new LeaseFencedException(token);
    }
    List<byte[]> adopted = reply.stream().skip(1).map(byte[].class::cast).toList();
    if (!adopted.isEmpty()) {
      log.info("{} adopted {} orders of {}", token, adopted.size(), dead);
    }
    return adopted;
  }

  /** Keys and arguments of settle.lua for these orders. */
  private final class Settlement {
    private final List<byte[]> keys = new ArrayList<>();
    private final List<byte[]> args;
    private final Map<Long, byte[]> indexes = new HashMap<>();

    Settlement(List<OutboundOrder> confirmed) {
      args = new ArrayList<>(1 + 3 * confirmed.size());
      keys.add(lanes);
      keys.add(queue);
      args.add(tokenBytes);
      confirmed.forEach(this::add);
    }

    private void add(OutboundOrder order) {
      OrderMessage message = order.message();
      args.add(order.body());
      // An order of another partition cannot be counted here: its hash lies in another slot.
      if (message == null || Partition.ofSku(message.skuId()) != partition) {
        args.add(NONE);
        args.add(NONE);
      } else {
        args.add(indexes.computeIfAbsent(message.skuId(), this::addKey));
        args.add(bytes(message.quantity()));
      }
    }

    private byte[] addKey(long skuId) {
      keys.add(bytes(RedisKeys.sku(skuId)));
      return bytes(keys.size());
    }
  }
}
