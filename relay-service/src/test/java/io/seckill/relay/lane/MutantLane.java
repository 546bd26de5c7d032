package io.seckill.relay.lane;

import io.seckill.relay.publish.OutboundOrder;
import io.seckill.relay.recovery.LeaseFencedException;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** Forbidden behaviour of a lane; each method replaces the product's method of the same name. */
public final class MutantLane {

  private MutantLane() {}

  /** Removes orders as soon as they are claimed. */
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

  /** Does not publish the orders in the private queue again. */
  static void recover(RelayLane lane) {}
}
