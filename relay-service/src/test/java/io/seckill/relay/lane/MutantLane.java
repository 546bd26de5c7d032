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
  static ClaimResult settleAndClaim(
      PrivateQueue queue,
      UnifiedJedis redis,
      List<OutboundOrder> confirmed,
      int most,
      Duration wait)
      throws LeaseFencedException {
    ClaimResult claimed = queue.settleAndClaim(redis, confirmed, most, wait);
    List<OutboundOrder> taken = claimed.taken().stream().map(OutboundOrder::of).toList();
    queue.settleAndClaim(redis, taken, 0, Duration.ZERO);
    return claimed;
  }

  /** Leaves alone what lies in the private queue. */
  static void recover(RelayLane lane) {}
}
