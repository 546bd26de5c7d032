package io.seckill.relay.lane;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.recovery.LifeOverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The Redis half of a lane's rounds, for one life of the lane. After any exception of Redis the
 * outcome is unknown: orders may lie in the private queue that the caller has not seen.
 */
final class PrivateQueue {

  private static final LuaScript CLAIM = LuaScript.from(PrivateQueue.class, "claim.lua");
  private static final LuaScript SETTLE = LuaScript.from(PrivateQueue.class, "settle.lua");

  private final int partition;
  private final String member;
  private final String outbox;
  private final String queue;
  private final String lanes;

  PrivateQueue(int partition, String member) {
    this.partition = partition;
    this.member = member;
    this.outbox = RedisKeys.outbox(partition);
    this.queue = RedisKeys.privateQueue(partition, member);
    this.lanes = RedisKeys.lanes(partition);
  }

  String member() {
    return member;
  }

  /**
   * Settles confirmed orders and takes new ones, in one round trip.
   *
   * @param confirmed removed from the private queue and counted; repeating is harmless
   * @param most most orders to take, 0..4096
   * @param wait longest wait for the first order, whole seconds; zero does not wait. The caller's
   *     connection must be patient for longer
   * @throws LifeOverException when this life was fenced; what was taken is the sweepers' business
   * @throws redis.clients.jedis.exceptions.JedisException when the outcome is unknown
   */
  @SuppressWarnings("deprecation") // BRPOPLPUSH is what claims are made with; works on 7 and 8
  Exchange exchange(UnifiedJedis redis, List<OutboundOrder> confirmed, int most, Duration wait)
      throws LifeOverException {
    boolean blocking = most > 0 && wait.toSeconds() > 0;
    Settlement settlement = new Settlement(confirmed);
    List<String> claimKeys = List.of(outbox, queue, lanes);
    List<String> claimArgs = List.of(member, Integer.toString(blocking ? most - 1 : most));
    Response<Object> settled = null;
    Response<String> first = null;
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
    if (settled != null) {
      alive((Long) SETTLE.answer(settled, redis, settlement.keys, settlement.args));
    }
    List<String> taken = new ArrayList<>();
    boolean refused = first != null && !addUnlessFull(first, taken);
    List<?> reply = (List<?>) CLAIM.answer(claimed, redis, claimKeys, claimArgs);
    alive((Long) reply.get(0));
    for (Object order : reply.subList(1, reply.size())) {
      taken.add((String) order);
    }
    return new Exchange(taken, (Long) reply.get(0), refused);
  }

  /** Returns false when Redis is full and refused; claim.lua, behind it, is still allowed to. */
  private static boolean addUnlessFull(Response<String> first, List<String> taken) {
    try {
      @Nullable String order = first.get();
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

  private void alive(long reply) throws LifeOverException {
    if (reply < 0) {
      throw new LifeOverException(member);
    }
  }

  /** What lies in the private queue, oldest first, at most so many. */
  List<String> contents(UnifiedJedis redis, int most) {
    List<String> oldestFirst = new ArrayList<>(redis.lrange(queue, -most, -1));
    Collections.reverse(oldestFirst);
    return oldestFirst;
  }

  /** Keys and arguments of settle.lua for these orders. */
  private final class Settlement {
    private final List<String> keys = new ArrayList<>();
    private final List<String> args = new ArrayList<>();

    Settlement(List<OutboundOrder> confirmed) {
      keys.add(lanes);
      keys.add(queue);
      args.add(member);
      Map<Long, String> indexes = new LinkedHashMap<>();
      for (OutboundOrder order : confirmed) {
        OrderMessage message = order.message();
        args.add(order.value());
        // An order of another partition cannot be counted here: its hash lies in another slot.
        if (message == null || Partition.ofSku(message.skuId()) != partition) {
          args.add("0");
          args.add("0");
        } else {
          args.add(indexes.computeIfAbsent(message.skuId(), this::addKey));
          args.add(Integer.toString(message.quantity()));
        }
      }
    }

    private String addKey(long skuId) {
      keys.add(RedisKeys.sku(skuId));
      return Integer.toString(keys.size());
    }
  }
}
