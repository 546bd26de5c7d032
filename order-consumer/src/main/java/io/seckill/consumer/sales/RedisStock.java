package io.seckill.consumer.sales;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.util.List;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Applies and undoes changes in Redis; every call may be repeated. */
@Component
class RedisStock {

  private final UnifiedJedis redis;
  private final LuaScript script = LuaScript.from(RedisStock.class, "stock_change.lua");

  RedisStock(UnifiedJedis redis) {
    this.redis = redis;
  }

  /** Redis's answer to a change. */
  enum Answer {
    DONE,
    /** Redis has less stock than is to be withdrawn. */
    REFUSED,
    /** Redis has a newer epoch than the change; MySQL has counted its stock after the change. */
    SUPERSEDED,
    /** The sale is not in Redis. */
    ABSENT,
    /** Redis has an older epoch than the change, or data it cannot read. */
    NOT_NOW
  }

  /** Throws JedisException when the outcome is unknown. */
  Answer apply(StockChange change) {
    return call(change, "apply");
  }

  /** Returns the units that {@link #apply} took. */
  Answer undo(StockChange change) {
    return call(change, "undo");
  }

  private Answer call(StockChange change, String what) {
    Object reply =
        script.call(
            redis,
            List.of(
                RedisKeys.sku(change.skuId()),
                RedisKeys.stock(change.skuId()),
                RedisKeys.stockChanges(change.skuId())),
            List.of(
                change.changeId(),
                Long.toString(change.epoch()),
                Long.toString(change.delta()),
                what));
    return switch (((Long) reply).intValue()) {
      case 1 -> Answer.DONE;
      case 0 -> Answer.REFUSED;
      case 2 -> Answer.SUPERSEDED;
      case 3 -> Answer.ABSENT;
      case -1 -> Answer.NOT_NOW;
      default ->
          throw new IllegalStateException("stock_change.lua and its caller disagree: " + reply);
    };
  }
}
