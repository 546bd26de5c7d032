package io.seckill.gateway.web;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.ReadOnlyHttpHeaders;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerResponse;

/** Writes an {@link HttpAnswer} as one message. */
final class HttpAnswerWriter {

  private static final AsciiString CORRELATION_ID = AsciiString.cached(CorrelationId.HEADER);
  private static final AsciiString NO_STORE = AsciiString.cached("no-store");
  private static final AsciiString CONTENT_TYPE_OPTIONS =
      AsciiString.cached("X-Content-Type-Options");
  private static final AsciiString NO_SNIFF = AsciiString.cached("nosniff");

  /** Names and values that every answer has. */
  private static final int FIXED = 10;

  private HttpAnswerWriter() {}

  /**
   * The server subscribes to the result. Writes the answer once, on the connection's event loop,
   * whichever thread produced it: this queues one task there instead of one for each step of
   * writing.
   */
  static Mono<Void> send(
      HttpServerResponse response, Mono<HttpAnswer> answer, String correlationId) {
    return answer
        .publishOn(Schedulers.fromExecutor(EventLoops.of(response)))
        .flatMap(known -> Mono.from(write(response, known, correlationId)));
  }

  private static Publisher<Void> write(
      HttpServerResponse response, HttpAnswer answer, String correlationId) {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    CharSequence[] headers = headers(answer, correlationId, body.length);
    response.status(answer.status());
    for (int i = 0; i < headers.length; i += 2) {
      response.header(headers[i], headers[i + 1]);
    }
    return response.sendObject(Unpooled.wrappedBuffer(body));
  }

  /** The same answer for the HTTP codec. */
  static FullHttpResponse message(
      ByteBufAllocator allocator, HttpAnswer answer, String correlationId) {
    ByteBuf body = ByteBufUtil.writeUtf8(allocator, answer.body());
    return new DefaultFullHttpResponse(
        HttpVersion.HTTP_1_1,
        HttpResponseStatus.valueOf(answer.status()),
        body,
        new ReadOnlyHttpHeaders(false, headers(answer, correlationId, body.readableBytes())),
        EmptyHttpHeaders.INSTANCE);
  }

  /** Names and values in turns. */
  private static CharSequence[] headers(HttpAnswer answer, String correlationId, int length) {
    CharSequence[] all = new CharSequence[FIXED + 2 * answer.headers().size()];
    all[0] = CORRELATION_ID;
    all[1] = correlationId;
    all[2] = HttpHeaderNames.CONTENT_LENGTH;
    all[3] = Integer.toString(length);
    all[4] = HttpHeaderNames.CONTENT_TYPE;
    all[5] = answer.contentType();
    all[6] = HttpHeaderNames.CACHE_CONTROL;
    all[7] = NO_STORE;
    all[8] = CONTENT_TYPE_OPTIONS;
    all[9] = NO_SNIFF;
    int next = FIXED;
    for (HttpAnswer.Header header : answer.headers()) {
      all[next++] = header.name();
      all[next++] = header.value();
    }
    return all;
  }
}
