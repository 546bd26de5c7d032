package io.seckill.gateway.ops;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.ServerSettings;
import io.seckill.gateway.ops.HealthReport.Component;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The state of each part of the pipeline with its reason, for people; probes use the actuator. */
@RestController
final class HealthController {

  private final JdbcClient mysql;
  private final BlockingCalls mysqlCalls;
  private final LaneRegistry registry;
  private final BlockingCalls redisCalls;
  private final ServerSettings redisSettings;
  private final ConsumerClient consumer;
  private final MeterRegistry meters;

  HealthController(
      JdbcClient mysql,
      @Qualifier("operatorMysqlCalls") BlockingCalls mysqlCalls,
      LaneRegistry registry,
      @Qualifier("operatorRedisCalls") BlockingCalls redisCalls,
      ServerSettings redisSettings,
      ConsumerClient consumer,
      MeterRegistry meters) {
    this.mysql = mysql;
    this.mysqlCalls = mysqlCalls;
    this.registry = registry;
    this.redisCalls = redisCalls;
    this.redisSettings = redisSettings;
    this.consumer = consumer;
    this.meters = meters;
  }

  @GetMapping("/api/v1/health")
  Mono<ResponseEntity<HealthReport>> health() {
    return Mono.zip(redisAndRelay(), mysql(), consumer())
        .map(
            parts -> {
              Map<String, Component> all = new TreeMap<>(parts.getT1());
              all.put("mysql", parts.getT2());
              all.put("consumer", parts.getT3());
              all.put("admission", admission());
              return HealthReport.of(all);
            })
        .map(
            report ->
                ResponseEntity.status(report.status() == HealthReport.State.DOWN ? 503 : 200)
                    .body(report));
  }

  /** One read of the lane registry covers both. */
  private Mono<Map<String, Component>> redisAndRelay() {
    return redisCalls
        .call(registry::read)
        .map(lanes -> Map.of("redis", redis(), "relay", relay(lanes)))
        .onErrorReturn(
            Map.of(
                "redis",
                Component.down("Redis does not answer."),
                "relay",
                Component.degraded("Unknown while Redis does not answer.")));
  }

  private Component redis() {
    List<String> dangers = redisSettings.dangers();
    return dangers.isEmpty()
        ? Component.UP
        : Component.degraded("Redis may forget orders: " + String.join("; ", dangers) + ".");
  }

  private static Component relay(Lanes lanes) {
    List<Integer> without =
        IntStream.range(0, Partition.COUNT)
            .filter(
                partition ->
                    lanes.lanes().stream()
                        .noneMatch(
                            lane ->
                                lane.partition() == partition && lane.state() == Lanes.State.ALIVE))
            .boxed()
            .toList();
    return without.isEmpty()
        ? Component.UP
        : Component.degraded("No lane holds a lease for partitions " + without + ".");
  }

  private Mono<Component> mysql() {
    return mysqlCalls
        .call(() -> mysql.sql("SELECT 1").query(Integer.class).single())
        .map(one -> Component.UP)
        .onErrorReturn(Component.degraded("MySQL does not answer."));
  }

  private Mono<Component> consumer() {
    return consumer
        .isReady()
        .map(
            ready ->
                ready
                    ? Component.UP
                    : Component.degraded("order-consumer is unavailable or not ready."));
  }

  private Component admission() {
    Collection<Gauge> breakers = meters.get("seckill.breaker.state").tag("state", "open").gauges();
    long open = breakers.stream().filter(breaker -> breaker.value() == 1).count();
    if (open == breakers.size()) {
      return Component.down("The circuit breaker to Redis is open.");
    }
    if (open > 0) {
      return Component.degraded("Redis does not answer for " + open + " partitions.");
    }
    if (meters.get("seckill.redis.verified").gauge().value() != 1) {
      return Component.down("The data of Redis has not been compared with MySQL yet.");
    }
    long quarantined = (long) meters.get("seckill.quarantined.skus").gauge().value();
    return quarantined == 0
        ? Component.UP
        : Component.degraded(
            quarantined + " SKUs are quarantined: Redis knows less of them than MySQL.");
  }
}
