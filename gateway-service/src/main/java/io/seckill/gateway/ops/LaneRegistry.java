package io.seckill.gateway.ops;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.ops.Lanes.Lane;
import io.seckill.gateway.ops.Lanes.LeaseState;
import io.seckill.gateway.ops.Lanes.Outbox;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/** Reads the registry of lanes; see {@code lanes.lua}. Blocks. */
@Component
record LaneRegistry(UnifiedJedis redis) {

  private static final Logger log = LoggerFactory.getLogger(LaneRegistry.class);
  private static final LuaScript LANES = LuaScript.from(LaneRegistry.class, "lanes.lua");

  private static final int REFUSES = 3;
  private static final int FIRST_LANE = 4;
  private static final int FIELDS = 3;

  /**
   * Reads all partitions; the values of one partition are from the same moment.
   *
   * @throws JedisException when no partition can be read
   */
  Lanes read() {
    Map<Integer, Response<Object>> asked = new TreeMap<>();
    Map<Integer, List<?>> replies = new TreeMap<>();
    JedisException failure = null;
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (int partition = 0; partition < Partition.COUNT; partition++) {
        try {
          asked.put(partition, LANES.queue(pipeline, keys(partition), args(partition)));
        } catch (JedisException e) { // of a node of a cluster
          failure = e;
        }
      }
      pipeline.sync();
    }
    for (Map.Entry<Integer, Response<Object>> one : asked.entrySet()) {
      int partition = one.getKey();
      try {
        replies.put(
            partition,
            (List<?>) LANES.answer(one.getValue(), redis, keys(partition), args(partition)));
      } catch (JedisException e) {
        failure = e;
      }
    }
    if (replies.isEmpty() && failure != null) {
      throw failure;
    }
    return lanes(replies);
  }

  private static Lanes lanes(Map<Integer, List<?>> replies) {
    List<Lane> lanes = new ArrayList<>();
    List<Outbox> outboxes = new ArrayList<>(Partition.COUNT);
    List<Integer> refusing = new ArrayList<>();
    replies.forEach(
        (partition, reply) -> {
          long now = number(reply.get(0));
          outboxes.add(
              new Outbox(
                  partition,
                  number(reply.get(1)),
                  OrderMessageCodec.ageMs(String.valueOf(reply.get(2)), now)));
          lanes.addAll(lanes(partition, now, reply.subList(FIRST_LANE, reply.size())));
          if (number(reply.get(REFUSES)) == 1) {
            refusing.add(partition);
          }
        });
    List<Integer> unavailable =
        Partition.ALL.stream().filter(p -> !replies.containsKey(p)).toList();
    return new Lanes(lanes, outboxes, unavailable, refusing);
  }

  private static List<String> keys(int partition) {
    return List.of(RedisKeys.outbox(partition), RedisKeys.absent(partition));
  }

  private static List<String> args(int partition) {
    return List.of(RedisKeys.prefix(partition));
  }

  private static List<Lane> lanes(int partition, long now, List<?> fields) {
    List<Lane> lanes = new ArrayList<>();
    for (int at = 0; at < fields.size(); at += FIELDS) {
      String[] member = String.valueOf(fields.get(at)).split(":", -1);
      if (member.length == 3 && member[1].matches("\\d{1,9}")) {
        long score = score(String.valueOf(fields.get(at + 1)));
        LeaseState state = state(score, now);
        lanes.add(
            new Lane(
                member[0],
                Integer.parseInt(member[1]),
                partition,
                member[2],
                state,
                state == LeaseState.DEAD ? 0 : score - now,
                number(fields.get(at + 2))));
      } else {
        log.warn("The registry of partition {} has a member that is not a lane", partition);
      }
    }
    lanes.sort(
        Comparator.comparing(Lane::state).thenComparing(Lane::relay).thenComparing(Lane::lane));
    return lanes;
  }

  /** Redis writes that of an infinite one as inf. */
  private static long score(String text) {
    return Math.round(Double.parseDouble(text.replace("inf", "Infinity")));
  }

  private static LeaseState state(long score, long now) {
    if (score <= 0) {
      return LeaseState.DEAD;
    }
    boolean current = score > now && score - now <= RedisKeys.LONGEST_LANE_LEASE.toMillis();
    return current ? LeaseState.ALIVE : LeaseState.LAPSED;
  }

  private static long number(Object value) {
    return Long.parseLong(String.valueOf(value));
  }
}
