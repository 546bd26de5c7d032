package io.seckill.gateway.web;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.io.ByteArrayOutputStream;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;

/** Reads a request's body into memory, up to a bound. */
final class BodyReader {

  private static final int UNKNOWN_LENGTH = 64;
  private static final int MAX_DISCARDED_BYTES = 256 * 1024;

  private BodyReader() {}

  /**
   * Returns the whole body; empty when there is none.
   *
   * @param maxBytes a longer body fails with ProblemException 413, and part of it may be left
   *     unread on the connection; with a Content-Length it fails without being collected
   */
  static Mono<byte[]> read(HttpServerRequest request, int maxBytes) {
    int length = announcedBytes(request.requestHeaders());
    if (length < 0) {
      return collect(request, UNKNOWN_LENGTH, maxBytes);
    }
    if (length <= maxBytes) {
      return collect(request, length, maxBytes);
    }
    // Unread bytes would cause a connection reset, which loses the answer; so they are read, if not
    // too many.
    return length <= MAX_DISCARDED_BYTES
        ? request.receive().then(Mono.error(BodyReader::tooLarge))
        : Mono.error(tooLarge());
  }

  private static ProblemException tooLarge() {
    return ProblemException.of(ProblemCode.PAYLOAD_TOO_LARGE);
  }

  /**
   * Returns the Content-Length; -1 when there is none, the largest int when it is longer. The codec
   * has checked that it is a number, and delivers no more bytes than that.
   */
  static int announcedBytes(HttpHeaders headers) {
    String announced = headers.get(HttpHeaderNames.CONTENT_LENGTH);
    if (announced == null) {
      return -1;
    }
    return (int) Math.min(Long.parseLong(announced), Integer.MAX_VALUE);
  }

  /**
   * Copies part by part: {@code receive().aggregate()} would track a composite buffer for leaks.
   */
  private static Mono<byte[]> collect(HttpServerRequest request, int likelyBytes, int maxBytes) {
    return request
        .receive()
        .collect(
            () -> new ByteArrayOutputStream(likelyBytes),
            (body, part) -> append(body, part, maxBytes))
        .map(ByteArrayOutputStream::toByteArray);
  }

  private static void append(ByteArrayOutputStream body, ByteBuf part, int maxBytes) {
    if (body.size() + part.readableBytes() > maxBytes) {
      throw tooLarge();
    }
    byte[] bytes = new byte[part.readableBytes()];
    part.getBytes(part.readerIndex(), bytes);
    body.writeBytes(bytes);
  }
}
