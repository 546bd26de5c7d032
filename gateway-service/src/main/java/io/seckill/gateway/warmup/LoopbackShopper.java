package io.seckill.gateway.warmup;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.seckill.gateway.security.WarmUpTokens;
import io.seckill.support.web.PathIds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.NettyOutbound;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientRequest;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * Buys a SKU that is never on sale, over HTTP as shoppers do, as many different shoppers. Each
 * purchase is answered that there is no such SKU. Uses one thread and persistent connections; never
 * blocks.
 */
final class LoopbackShopper {

  /** Concurrent purchases, each over its own connection. */
  static final int AT_ONCE = 64;

  private static final String NAME = "warm-up";
  private static final String PATH = "/api/v1/skus/" + PathIds.NEVER_ON_SALE + "/orders";
  private static final byte[] BODY = "{\"quantity\":1}".getBytes(StandardCharsets.US_ASCII);
  private static final int CONNECT_TIMEOUT_MS = 2_000;

  /**
   * Far above the time the gateway allows a purchase, even when a cold start keeps all cores busy.
   */
  private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(1);

  private final WarmUpTokens tokens;
  private final LoopResources loop = LoopResources.create(NAME, 1, true);
  private final ConnectionProvider connections = ConnectionProvider.create(NAME, AT_ONCE);
  private final HttpClient http;

  /**
   * @param port the shoppers' port of this gateway
   */
  LoopbackShopper(int port, WarmUpTokens tokens) {
    this.tokens = tokens;
    this.http =
        HttpClient.create(connections)
            .runOn(loop)
            .host("127.0.0.1")
            .port(port)
            .disableRetry(true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
            .responseTimeout(RESPONSE_TIMEOUT);
  }

  /**
   * Makes one purchase.
   *
   * @param number from 0, different for each purchase
   * @return the status of the answer, or the error that prevented one
   */
  Mono<Integer> buy(int number) {
    return http.post()
        .uri(PATH)
        .send((request, out) -> write(number, request, out))
        .responseSingle((answer, body) -> body.then(Mono.just(answer.status().code())));
  }

  private Publisher<Void> write(int number, HttpClientRequest request, NettyOutbound out) {
    request
        .header(HttpHeaderNames.AUTHORIZATION, "Bearer " + tokens.shopper(number))
        .header("Idempotency-Key", "warm-up-" + number)
        .header(HttpHeaderNames.CONTENT_TYPE, "application/json")
        .header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(BODY.length));
    return out.sendObject(Unpooled.wrappedBuffer(BODY));
  }

  /** Closes the connections and ends the thread; does not wait for it, and may be called by it. */
  void release() {
    connections.disposeLater().then(loop.disposeLater(Duration.ZERO, STOP_TIMEOUT)).subscribe();
  }
}
