package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The reports of all registered gateways together. */
record Gateways(List<GatewayNode> all) {

  /** As their breakers see it, for so long before MySQL decides. */
  private static final Duration UNUSABLE = Duration.ofSeconds(1);

  /** For so long before Redis decides again. */
  private static final Duration USABLE = Duration.ofSeconds(10);

  private List<GatewayNode> fresh() {
    return all.stream().filter(GatewayNode::isFresh).toList();
  }

  /**
   * Whether more than half of those with a recent heartbeat have not reached Redis for a second.
   */
  boolean haveLostRedis() {
    return isMajority(count(RedisView.UNUSABLE, UNUSABLE));
  }

  /** Whether each with a recent heartbeat, at least one, has used Redis for ten seconds. */
  boolean allUseRedisAgain() {
    return !fresh().isEmpty() && count(RedisView.USABLE, USABLE) == fresh().size();
  }

  /** Whether more than half of those with a recent heartbeat use Redis; also when there is none. */
  boolean useRedis() {
    return fresh().isEmpty() || isMajority(count(RedisView.USABLE, Duration.ZERO));
  }

  private long count(RedisView view, Duration atLeast) {
    return fresh().stream().filter(node -> node.hasFound(view, atLeast)).count();
  }

  private boolean isMajority(long nodes) {
    return nodes * 2 > fresh().size();
  }

  /** A gateway with a recent heartbeat that would promise orders although MySQL decides. */
  Optional<GatewayNode> withoutFallback() {
    return fresh().stream().filter(node -> node.mode() == FallbackMode.OFF).findFirst();
  }

  /** Whether each has transferred everything that it promised before this term. */
  boolean haveTransferred(long term) {
    return all.stream().allMatch(node -> node.hasTransferred(term));
  }

  /** The same, and each was complete. */
  boolean haveTransferredAll(long term) {
    return all.stream().allMatch(node -> node.hasTransferred(term) && node.complete());
  }

  /** Whether one that has seen the term has a recent heartbeat, and is not yet done. */
  boolean areTransferring(long term) {
    return fresh().stream().anyMatch(node -> node.term() >= term && !node.hasTransferred(term));
  }
}
