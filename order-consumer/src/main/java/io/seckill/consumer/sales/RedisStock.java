package io.seckill.consumer.sales;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ExpectedSale;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Applies and undoes changes in Redis; every call may be repeated. */
@Component
record RedisStock(UnifiedJedis redis, JdbcClient jdbc) {

  private static final LuaScript SCRIPT = LuaScript.from(RedisStock.class, "stock_change.lua");

  /** Redis's answer to a change. */
  enum Answer {
    DONE,
    /** Redis has less stock than is to be withdrawn. */
    REFUSED,
    /** Redis has a newer epoch than the change; MySQL has counted its stock after the change. */
    SUPERSEDED,
    /** The sale is not in Redis. */
    ABSENT,
    /** Redis has an older epoch than the change, data it cannot read, or may have lost some. */
    NOT_NOW
  }

  /**
   * @param changeSeq number of the last change of the sale in Redis, at least that of this one; 0
   *     unless DONE or REFUSED
   */
  record Reply(Answer answer, long changeSeq) {}

  /** Throws JedisException when the outcome is unknown. */
  Reply apply(StockChange change) {
    return call(change, "apply");
  }

  /** Returns the units that {@link #apply} took. */
  Reply undo(StockChange change) {
    return call(change, "undo");
  }

  private Reply call(StockChange change, String what) {
    ExpectedSale expected =
        ExpectedSale.find(jdbc, List.of(change.skuId())).stream()
            .findAny()
            .orElseThrow(DatabaseStock::gone);
    List<?> reply =
        (List<?>)
            SCRIPT.call(
                redis,
                List.of(
                    RedisKeys.sku(change.skuId()),
                    RedisKeys.stock(change.skuId()),
                    RedisKeys.stockChanges(change.skuId())),
                List.of(
                    change.changeId(),
                    Long.toString(change.epoch()),
                    Long.toString(change.delta()),
                    what,
                    Long.toString(expected.lastSeq()),
                    Long.toString(expected.changeSeq()),
                    expected.server()));
    return new Reply(answer((Long) reply.get(0)), (Long) reply.get(1));
  }

  private static Answer answer(long code) {
    return switch ((int) code) {
      case 1 -> Answer.DONE;
      case 0 -> Answer.REFUSED;
      case 2 -> Answer.SUPERSEDED;
      case 3 -> Answer.ABSENT;
      case -1 -> Answer.NOT_NOW;
      default ->
          throw new IllegalStateException("stock_change.lua and its caller disagree: " + code);
    };
  }
}
