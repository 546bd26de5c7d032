package io.seckill.relay.lane;

import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** What a lane must never do; mutations have it done in place of the method of the same name. */
public final class MutantLane {

  private MutantLane() {}

  /** Removes orders as soon as they are taken. */
  static Exchange exchange(
      PrivateQueue queue,
      UnifiedJedis redis,
      List<OutboundOrder> confirmed,
      int most,
      Duration wait)
      throws LeaseFencedException {
    Exchange exchange = queue.exchange(redis, confirmed, most, wait);
    List<OutboundOrder> taken = exchange.taken().stream().map(OutboundOrder::of).toList();
    queue.exchange(redis, taken, 0, Duration.ZERO);
    return exchange;
  }

  /** Leaves alone what lies in the private queue. */
  static void recover(RelayLane lane) {}
}
