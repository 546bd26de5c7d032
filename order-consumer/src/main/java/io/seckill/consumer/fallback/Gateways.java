package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The reports of all registered gateways together. */
record Gateways(List<GatewayNode> all) {

  /** For so long before MySQL decides. */
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

  /**
   * Why sales cannot return yet from the fallback of this term, "" when they can. Redis would sell
   * again what a gateway has promised and MySQL lacks.
   */
  String hindranceToReturn(long term) {
    if (!useRedis()) {
      return "Most gateways have no usable Redis.";
    }
    return awaited(term)
        .map(
            late ->
                ("The gateway %s has not transferred the orders that it has promised. Try again. If"
                        + " that does not help, stop it: about a minute later it is not waited for,"
                        + " and orders that it alone has are lost.")
                    .formatted(late.name()))
        .orElse("");
  }

  /** Whether more than half of those with a recent heartbeat use Redis; also when there is none. */
  private boolean useRedis() {
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

  /**
   * One that has not transferred everything that it promised before this term. A gateway without
   * fallback never does, and is not waited for.
   */
  Optional<GatewayNode> awaited(long term) {
    return all.stream()
        .filter(node -> node.mode().isOn() && !node.hasTransferred(term))
        .findFirst();
  }

  /** Whether each has transferred everything, also those without fallback, and was complete. */
  boolean haveTransferredAll(long term) {
    return all.stream().allMatch(node -> node.hasTransferred(term) && node.complete());
  }

  /** Whether one that has seen the term has a recent heartbeat, and is not yet done. */
  boolean areTransferring(long term) {
    return fresh().stream().anyMatch(node -> node.term() >= term && !node.hasTransferred(term));
  }
}
