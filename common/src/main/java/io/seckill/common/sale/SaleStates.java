package io.seckill.common.sale;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The states of sales in Redis. MySQL decides them, with one exception: an operator's stop takes
 * effect in Redis at once and is recorded there until MySQL has stored it. A state from MySQL is
 * written with the number of its change ({@code products.state_version}). Every method blocks, and
 * throws JedisException when Redis does not answer.
 */
public record SaleStates(UnifiedJedis redis) {

  private static final LuaScript STOP = LuaScript.from(SaleStates.class, "sale_stop.lua");
  private static final LuaScript FOLLOW = LuaScript.from(SaleStates.class, "sale_state.lua");

  /**
   * The entries of a partition's hash of stops.
   *
   * @param pending the stops that are not stored in MySQL yet
   * @param wrong those that no service has written, text by field: unreadable, or of a SKU of
   *     another partition
   */
  public record Stops(List<PendingStop> pending, Map<String, String> wrong) {}

  /**
   * A state that Redis has.
   *
   * @param state "" when Redis does not have the sale
   * @param version number of the change in MySQL; 0 for none
   */
  public record Shown(String state, long version) {}

  public enum Followed {
    /** Redis has the state now, or had it before. */
    DONE,
    /** A stop is not stored in MySQL yet; it stays in force. */
    STOPPED,
    /** Redis has the state of a later change already. */
    NEWER,
    /** Redis has no loaded sale of this epoch, so the SKU is not on sale anyway. */
    NOT_LOADED
  }

  /**
   * Stops admission, also for a sale that is being loaded or that Redis has lost. Returns false for
   * a pause of a sale that is not running; nothing was recorded.
   */
  public boolean stop(PendingStop stop) {
    String reply =
        String.valueOf(
            STOP.call(
                redis,
                keys(stop.skuId()),
                List.of(Long.toString(stop.skuId()), stop.state(), stop.format())));
    return switch (reply) {
      case "STOPPED" -> true;
      case "PREHEATED", "CLOSED" -> false;
      default -> throw new IllegalStateException("sale_stop.lua: " + reply);
    };
  }

  /**
   * Writes a state from MySQL to Redis.
   *
   * @param version number of the change in MySQL
   * @param taken the pending stop that MySQL has stored with this state or has refused, which is
   *     removed from Redis; null for none
   */
  public Followed follow(
      long skuId, String state, long epoch, long version, @Nullable PendingStop taken) {
    String reply =
        String.valueOf(
            FOLLOW.call(
                redis,
                keys(skuId),
                List.of(
                    state,
                    Long.toString(epoch),
                    Long.toString(version),
                    Long.toString(skuId),
                    taken == null ? "" : taken.format())));
    return switch (reply) {
      case "OK" -> Followed.DONE;
      case "STOPPED" -> Followed.STOPPED;
      case "NEWER" -> Followed.NEWER;
      case "ABSENT", "PREHEATING", "OTHER_EPOCH" -> Followed.NOT_LOADED;
      default -> throw new IllegalStateException("sale_state.lua: " + reply);
    };
  }

  /** Number of the latest state change in MySQL that was written to Redis; 0 for none. */
  public long version(long skuId) {
    return number(redis.hget(RedisKeys.sku(skuId), "stateVersion"));
  }

  private static long number(@Nullable String text) {
    return text != null && text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
  }

  /** The states of these sales, read in one round trip; empty for one that cannot be read so. */
  public List<Optional<Shown>> shown(List<Long> skuIds) {
    List<Response<List<String>>> answers;
    try (AbstractPipeline pipeline = redis.pipelined()) {
      answers =
          skuIds.stream()
              .map(sku -> pipeline.hmget(RedisKeys.sku(sku), "state", "stateVersion"))
              .toList();
      pipeline.sync();
    }
    return answers.stream().map(SaleStates::shown).toList();
  }

  /** An error reply is that of one sale, or says that another node has it. */
  private static Optional<Shown> shown(Response<List<String>> answer) {
    try {
      List<@Nullable String> fields = PipelineReplies.get(answer);
      String state = fields.get(0);
      return Optional.of(new Shown(state == null ? "" : state, number(fields.get(1))));
    } catch (JedisDataException e) {
      return Optional.empty();
    }
  }

  /** The stop of a SKU that is not stored in MySQL yet, or empty. */
  public Optional<PendingStop> pendingStop(long skuId) {
    String text = redis.hget(RedisKeys.stops(Partition.ofSku(skuId)), Long.toString(skuId));
    return text == null ? Optional.empty() : PendingStop.parse(Long.toString(skuId), text);
  }

  /** All stops of these partitions that are not stored in MySQL yet. */
  public List<PendingStop> pendingStops(List<Integer> partitions) {
    return stops(partitions).stream().flatMap(stops -> stops.pending().stream()).toList();
  }

  /** Those of each of these partitions, read in one round trip. */
  public List<Stops> stops(List<Integer> partitions) {
    List<Response<Map<String, String>>> answers;
    try (AbstractPipeline pipeline = redis.pipelined()) {
      answers = partitions.stream().map(p -> pipeline.hgetAll(RedisKeys.stops(p))).toList();
      pipeline.sync();
    }
    return IntStream.range(0, answers.size())
        .mapToObj(i -> read(partitions.get(i), PipelineReplies.get(answers.get(i))))
        .toList();
  }

  /** Those of one partition, whose server may answer while others do not. */
  public Stops stops(int partition) {
    return read(partition, redis.hgetAll(RedisKeys.stops(partition)));
  }

  private static Stops read(int partition, Map<String, String> entries) {
    List<PendingStop> pending = new ArrayList<>();
    Map<String, String> wrong = new HashMap<>();
    entries.forEach(
        (skuId, text) ->
            PendingStop.parse(skuId, text)
                .filter(stop -> Partition.ofSku(stop.skuId()) == partition)
                .ifPresentOrElse(pending::add, () -> wrong.put(skuId, text)));
    return new Stops(pending, wrong);
  }

  /** Removes an entry that is {@link Stops#wrong}, unless it has changed. */
  public void removeWrong(int partition, String field, String text) {
    var unused =
        FOLLOW.call(
            redis,
            List.of(RedisKeys.absent(partition), RedisKeys.stops(partition)),
            List.of("CLOSED", "0", "0", field, text));
  }

  private static List<String> keys(long skuId) {
    return List.of(RedisKeys.sku(skuId), RedisKeys.stops(Partition.ofSku(skuId)));
  }
}
