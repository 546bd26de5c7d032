package io.seckill.gateway.ops;

import io.seckill.common.order.Partition;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisNodeWatch;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.fallback.Promises;
import io.seckill.gateway.ops.HealthReport.Component;
import io.seckill.gateway.verification.VerifiedServers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.stereotype.Service;

/** Whether this gateway can admit purchases in the sales that Redis decides. */
@Service
record AdmissionHealth(
    ProductCache products,
    Promises promises,
    RedisBreaker breaker,
    VerifiedServers servers,
    RedisNodeWatch redisNodes) {

  Component present() {
    if (products.isInFallback()) {
      return Component.degraded("MySQL decides the sales of Redis: a fallback is under way.");
    }
    if (!promises.mayConfirm()) {
      return Component.down(
          "With seckill.fallback on, sales of Redis need MySQL and order-consumer.");
    }
    return of(
        Partition.ALL.stream().filter(breaker::isOpen).toList(),
        servers.unverified(),
        redisNodes.refuses(),
        servers.quarantinedOnSale());
  }

  /**
   * DOWN when no partition sells.
   *
   * @param open partitions whose breaker is open
   * @param unverified partitions whose server is not verified; some may be {@code open}, too
   * @param refuses whether a server is unverified because it may lose orders
   * @param quarantined SKUs
   */
  static Component of(
      List<Integer> open, List<Integer> unverified, boolean refuses, int quarantined) {
    List<String> reasons = new ArrayList<>();
    if (!open.isEmpty()) {
      reasons.add("The circuit breaker to Redis is open" + named(open) + ".");
    }
    if (!unverified.isEmpty()) {
      reasons.add(
          (refuses
                  ? "Redis is not sold from while it may forget orders"
                  : "The data of Redis has not been compared with MySQL yet")
              + named(unverified)
              + ".");
    }
    if (quarantined > 0) {
      reasons.add(
          quarantined
              + " SKUs are quarantined: Redis has older data of them than MySQL or a gateway.");
    }
    if (reasons.isEmpty()) {
      return Component.UP;
    }
    String reason = String.join(" ", reasons);
    long closed = Stream.of(open, unverified).flatMap(List::stream).distinct().count();
    return closed == Partition.COUNT ? Component.down(reason) : Component.degraded(reason);
  }

  private static String named(List<Integer> partitions) {
    return partitions.size() == Partition.COUNT ? "" : ": partitions " + partitions;
  }
}
