package io.seckill.gateway.ops;

import io.seckill.common.order.Partition;
import io.seckill.gateway.admission.AdmissionProperties;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.ops.HealthReport.Component;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The state of each part of the pipeline with its reason, for people; probes use the actuator. */
@RestController
final class HealthController {

  private final BackendHealth backends;
  private final Mono<Optional<Lanes>> lanes;
  private final AdmissionHealth admission;
  private final String durableIn;
  private final ProductCache products;

  HealthController(
      BackendHealth backends,
      LaneRegistry registry,
      @Qualifier("operatorRedisCalls") BlockingCalls redisCalls,
      AdmissionHealth admission,
      AdmissionProperties settings,
      ProductCache products) {
    this.backends = backends;
    this.lanes = lanes(registry, redisCalls);
    this.admission = admission;
    this.durableIn = settings.durableIn().name();
    this.products = products;
  }

  /** Empty while Redis does not answer; shared as {@link BackendHealth}'s checks are. */
  static Mono<Optional<Lanes>> lanes(LaneRegistry registry, BlockingCalls redisCalls) {
    return redisCalls
        .call(registry::read)
        .map(Optional::of)
        .onErrorReturn(Optional.empty())
        .cache(BackendHealth.SHARED_FOR);
  }

  @GetMapping("/api/v1/health")
  Mono<ResponseEntity<HealthReport>> health() {
    return Mono.zip(backends.redis(), backends.mysql(), backends.consumer(), lanes)
        .map(
            parts ->
                HealthReport.of(
                    durableIn,
                    Map.of(
                        "redis", redis(parts.getT1(), parts.getT4()),
                        "mysql", parts.getT2(),
                        "consumer", parts.getT3(),
                        "relay", relay(parts.getT4()),
                        "admission", admission.present())))
        .map(
            report ->
                ResponseEntity.status(report.status() == HealthReport.HealthState.DOWN ? 503 : 200)
                    .body(report));
  }

  private Component redis(Component asProbed, Optional<Lanes> lanes) {
    return lanes
        .map(all -> redis(asProbed, all.refusing(), all.unavailable(), products.isInFallback()))
        .orElse(asProbed);
  }

  /** Not for probes: gateways that refuse purchases still answer repeats and show orders. */
  static Component redis(
      Component asProbed, List<Integer> refusing, List<Integer> unavailable, boolean inFallback) {
    if (refusing.isEmpty()) {
      return asProbed;
    }
    boolean all = refusing.size() + unavailable.size() == Partition.COUNT;
    String reason =
        "Redis takes no writes"
            + (unavailable.isEmpty() && all ? "" : " for partitions " + refusing)
            + (all && inFallback ? "; MySQL decides its sales." : ".")
            + (asProbed.reason() == null ? "" : " " + asProbed.reason());
    return all && !inFallback ? Component.down(reason) : Component.degraded(reason);
  }

  private static Component relay(Optional<Lanes> lanes) {
    return lanes
        .map(HealthController::relay)
        .orElse(Component.degraded("Unknown while Redis does not answer."));
  }

  private static Component relay(Lanes lanes) {
    List<Integer> without =
        Partition.ALL.stream()
            .filter(
                partition ->
                    !lanes.unavailable().contains(partition)
                        && lanes.lanes().stream()
                            .noneMatch(
                                lane -> lane.partition() == partition && lane.drainsOutbox()))
            .toList();
    List<String> reasons = new ArrayList<>();
    if (!without.isEmpty()) {
      reasons.add("No relay's lane holds a lease for partitions " + without + ".");
    }
    if (!lanes.unavailable().isEmpty()) {
      reasons.add(
          "Unknown for partitions " + lanes.unavailable() + ": Redis does not answer for them.");
    }
    return reasons.isEmpty() ? Component.UP : Component.degraded(String.join(" ", reasons));
  }
}
