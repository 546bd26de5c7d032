package io.seckill.gateway.web;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerResponse;

/** Writes an {@link HttpAnswer} to Reactor Netty as one message. */
public final class HttpAnswerWriter {

  private HttpAnswerWriter() {}

  /**
   * The server subscribes to the result. Writes the answer once, on the connection's event loop,
   * whichever thread produced it: this queues one task there instead of one for each step of
   * writing.
   */
  public static Mono<Void> send(
      HttpServerResponse response, Mono<HttpAnswer> answer, String correlationId) {
    return answer
        .publishOn(Schedulers.fromExecutor(EventLoops.of(response)))
        .flatMap(known -> Mono.from(write(response, known, correlationId)));
  }

  private static Publisher<Void> write(
      HttpServerResponse response, HttpAnswer answer, String correlationId) {
    response.status(answer.status());
    byte[] body = answer.bodyBytes();
    HttpHeaders headers = response.responseHeaders();
    headers.set(CorrelationId.HEADER, correlationId);
    headers.set(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length));
    if (answer.contentType() != null) {
      headers.set(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
      headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
      headers.set("X-Content-Type-Options", "nosniff");
    }
    for (HttpAnswer.Header header : answer.headers()) {
      headers.set(header.name(), header.value());
    }
    return response.sendObject(Unpooled.wrappedBuffer(body));
  }
}
