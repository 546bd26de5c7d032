package io.seckill.gateway.backends;

import io.netty.channel.ChannelOption;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.ProblemException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientRequest;
import reactor.netty.resources.ConnectionProvider;

/** Connections to order-consumer for one kind of call, so that no other kind waits behind it. */
final class ConsumerLink {

  private static final Logger log = LoggerFactory.getLogger(ConsumerLink.class);
  private static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;

  /** An order-consumer that is reachable accepts within milliseconds. */
  private static final int CONNECT_TIMEOUT_MS = 500;

  /** Requests that may wait for a connection; further ones are refused at once. */
  private static final int MAX_WAITING = 256;

  private final URI url;
  private final Duration timeout;
  private final ConnectionProvider connections;
  private final WebClient client;

  /**
   * @param kind names the connections
   */
  ConsumerLink(
      String kind,
      int maxConnections,
      ConsumerProperties settings,
      InternalToken internal,
      ReactorResourceFactory resources) {
    this.url = settings.url();
    this.timeout = settings.timeout();
    this.connections =
        ConnectionProvider.builder("order-consumer-" + kind)
            .maxConnections(maxConnections)
            .pendingAcquireMaxCount(MAX_WAITING)
            .pendingAcquireTimeout(timeout)
            .maxIdleTime(Duration.ofSeconds(20))
            .build();
    HttpClient http =
        HttpClient.create(connections)
            .runOn(resources.getLoopResources())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
            .responseTimeout(timeout);
    this.client =
        WebClient.builder()
            .clientConnector(new ReactorClientHttpConnector(http))
            .defaultHeader(HttpHeaders.AUTHORIZATION, "Bearer " + internal.token())
            .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(MAX_ANSWER_BYTES))
            .build();
  }

  /**
   * A request for order-consumer.
   *
   * @param body JSON; null for none
   * @param within longest wait for the answer
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares requests
  record Request(
      HttpMethod method,
      String path,
      byte @Nullable [] body,
      Map<String, String> headers,
      Duration within,
      Requester requester) {}

  /**
   * Every failure is a problem: a refusal, or that the requester gets no answer.
   *
   * @param reading of the answer; throws when it cannot be read
   */
  <T> Mono<T> exchange(Request request, Function<ConsumerAnswer, T> reading) {
    return send(request)
        .map(reading)
        .onErrorMap(
            failure -> !(failure instanceof ProblemException),
            failure -> {
              log.warn(
                  "order-consumer did not answer {} {}: {}",
                  request.method(),
                  request.path(),
                  failure.toString());
              return request.requester().unavailable();
            });
  }

  /** Fails also with exceptions of the connection. */
  Mono<ConsumerAnswer> send(Request request) {
    WebClient.RequestBodySpec spec =
        client
            .method(request.method())
            .uri(url.resolve(request.path()))
            .headers(all -> request.headers().forEach(all::set))
            .httpRequest(
                raw -> {
                  HttpClientRequest connection = raw.getNativeRequest();
                  connection.responseTimeout(request.within());
                });
    if (request.body() != null) {
      spec.contentType(MediaType.APPLICATION_JSON).bodyValue(request.body());
    }
    return spec.exchangeToMono(response -> read(response, request.requester()))
        .timeout(request.within());
  }

  private static Mono<ConsumerAnswer> read(ClientResponse response, Requester requester) {
    int status = response.statusCode().value();
    return response
        .bodyToMono(byte[].class)
        .defaultIfEmpty(new byte[0])
        .map(bytes -> ConsumerAnswer.of(status, bytes, requester));
  }

  /** Whether order-consumer answers and reports itself ready. Never fails. */
  Mono<Boolean> isReady() {
    return client
        .get()
        .uri(url.resolve("/actuator/health/readiness"))
        .exchangeToMono(
            answer -> answer.releaseBody().thenReturn(answer.statusCode().value() == 200))
        .timeout(timeout)
        .onErrorReturn(false);
  }

  Mono<Void> close() {
    return connections.disposeLater();
  }
}
