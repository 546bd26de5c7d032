package io.seckill.bench.baseline;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.SnowflakeIds;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.Map;
import org.reactivestreams.Publisher;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerResponse;
import redis.clients.jedis.UnifiedJedis;

/**
 * Ceiling and baseline of the gateway, on the gateway's HTTP stack: {@code POST /plain/…} is
 * answered on the event loop without Redis; every other purchase takes the design most would write
 * first, an annotated controller with one blocking EVALSHA per request.
 */
@EnableAutoConfiguration
public class BaselineApplication {

  static final String REDIS_URL = "seckill.bench.redis";
  static final String SECRET = "seckill.bench.secret";

  private static final byte[] PLAIN_ANSWER =
      "{\"orderId\":\"251117339148419079\",\"status\":\"QUEUED\",\"position\":1,\"durableIn\":\"REDIS\"}"
          .getBytes(StandardCharsets.US_ASCII);

  private static final String PLAIN_LENGTH = "" + PLAIN_ANSWER.length;

  /** One for each connection of the load, so that no purchase waits for another. */
  private static final int THREADS = 64;

  public static void main(String[] args) {
    SpringApplication.run(BaselineApplication.class, args);
  }

  /** Writes answers as the gateway does, one message each, with as few headers as possible. */
  @Bean
  NettyRouteProvider plainRoute() {
    return routes ->
        routes.route(
            request -> request.uri().startsWith("/plain/"),
            (request, response) ->
                request.receive().then(Mono.defer(() -> Mono.from(plainAnswer(response)))));
  }

  private static Publisher<Void> plainAnswer(HttpServerResponse response) {
    response.status(HttpResponseStatus.ACCEPTED);
    response
        .responseHeaders()
        .set(HttpHeaderNames.CONTENT_LENGTH, PLAIN_LENGTH)
        .set(HttpHeaderNames.CONTENT_TYPE, "application/json");
    return response.sendObject(Unpooled.wrappedBuffer(PLAIN_ANSWER));
  }

  @Bean(destroyMethod = "close")
  UnifiedJedis redis() {
    RedisSettings settings = RedisSettings.single(System.getProperty(REDIS_URL));
    return RedisClients.open(settings.withMaxConnections(THREADS), "baseline");
  }

  /**
   * A separate scheduler, because Reactor's for blocking calls has only ten threads per processor.
   */
  @Bean(destroyMethod = "dispose")
  Scheduler blockingCalls() {
    return Schedulers.newBoundedElastic(THREADS, Integer.MAX_VALUE, "redis");
  }

  @Bean
  ObviousController obviousController(UnifiedJedis redis, Scheduler blockingCalls) {
    return new ObviousController(
        AdmitScript.loadInto(redis),
        new BaselineSignatureCheck(System.getProperty(SECRET)),
        blockingCalls);
  }

  /** The request body. */
  record PurchaseBody(int quantity) {}

  /** The purchase endpoint as most would write it first. */
  @RestController
  static class ObviousController {

    private static final int WORKER = 254;

    private final SnowflakeIds ids = new SnowflakeIds(WORKER, 0, Clock.systemUTC());
    private final AdmitScript script;
    private final BaselineSignatureCheck signatures;
    private final Scheduler blockingCalls;

    ObviousController(
        AdmitScript script, BaselineSignatureCheck signatures, Scheduler blockingCalls) {
      this.script = script;
      this.signatures = signatures;
      this.blockingCalls = blockingCalls;
    }

    @PostMapping("/api/v1/skus/{sku}/orders")
    @ResponseStatus(HttpStatus.ACCEPTED)
    Mono<Map<String, Object>> buy(
        @PathVariable("sku") long sku,
        @RequestHeader(HttpHeaders.AUTHORIZATION) String authorization,
        @RequestHeader("Idempotency-Key") String key,
        @RequestBody PurchaseBody body) {
      return Mono.fromCallable(() -> admit(sku, signatures.user(authorization), key, body))
          .subscribeOn(blockingCalls);
    }

    private Map<String, Object> admit(long sku, long user, String key, PurchaseBody body) {
      int partition = Partition.ofSku(sku);
      OrderId id = ids.next(partition);
      String reply = script.admit(partition, sku, user, key, id);
      if (body.quantity() != 1 || !reply.startsWith("A|")) {
        throw new ResponseStatusException(HttpStatus.CONFLICT, reply);
      }
      return Map.of(
          "orderId",
          id.toString(),
          "status",
          "QUEUED",
          "position",
          Long.valueOf(reply.substring(2)));
    }
  }
}
