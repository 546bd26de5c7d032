package io.seckill.gateway.backends;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.ProblemException;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
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
  private final HttpClient client;
  private final ThrottledLog failures = new ThrottledLog(log);

  /** {@code kind} names the connections. */
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
    this.client =
        HttpClient.create(connections)
            .disableRetry(true) // what it sent may be carried out: the caller decides
            .runOn(resources.getLoopResources())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
            .responseTimeout(timeout)
            .headers(
                headers ->
                    headers.set(HttpHeaderNames.AUTHORIZATION, "Bearer " + internal.token()));
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
   * Every failure is a problem: a refusal, or that the requester gets no answer, also when {@code
   * reading} cannot read it and throws.
   */
  <T> Mono<T> exchange(Request request, Function<ConsumerAnswer, T> reading) {
    return send(request)
        .map(reading)
        .onErrorMap(
            failure -> !(failure instanceof ProblemException),
            failure -> {
              failures.warn(
                  "order-consumer did not answer " + request.method() + " " + request.path(),
                  failure);
              return request.requester().unavailable();
            });
  }

  /** Fails also with exceptions of the connection. */
  Mono<ConsumerAnswer> send(Request request) {
    return client
        .request(io.netty.handler.codec.http.HttpMethod.valueOf(request.method().name()))
        .uri(url.resolve(request.path()))
        .send(
            (connection, out) -> {
              request.headers().forEach(connection::header);
              connection.responseTimeout(request.within());
              byte[] body = request.body();
              if (body == null) {
                return out;
              }
              connection.header(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE);
              return out.send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)));
            })
        .response(
            (answer, body) ->
                body.collect(ByteArrayOutputStream::new, ConsumerLink::append)
                    .map(
                        bytes ->
                            ConsumerAnswer.of(
                                answer.status().code(), bytes.toByteArray(), request.requester())))
        .single()
        .timeout(request.within());
  }

  private static void append(ByteArrayOutputStream answer, ByteBuf part) {
    byte[] bytes = new byte[part.readableBytes()];
    part.readBytes(bytes);
    answer.writeBytes(bytes);
    if (answer.size() > MAX_ANSWER_BYTES) {
      throw new IllegalStateException("an answer of more than " + MAX_ANSWER_BYTES + " bytes");
    }
  }

  Mono<Boolean> isReady() {
    return client
        .get()
        .uri(url.resolve("/actuator/health/readiness"))
        .response((answer, body) -> body.then(Mono.just(answer.status().code() == 200)))
        .single()
        .timeout(timeout)
        .onErrorReturn(false);
  }

  Mono<Void> close() {
    return connections.disposeLater();
  }
}
