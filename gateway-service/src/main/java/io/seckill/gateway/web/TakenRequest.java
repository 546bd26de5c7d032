package io.seckill.gateway.web;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A request that a {@link DirectHandler} answers: whole, small, ordinary HTTP/1.1. */
final class TakenRequest {

  private final DirectRoute route;
  private final RequestHead head;
  private final byte[] body;
  private int received;
  private boolean complete;

  private TakenRequest(DirectRoute route, RequestHead head, int length) {
    this.route = route;
    this.head = head;
    this.body = new byte[length];
  }

  /** Null for a request that none of the routes answers, or that is not an ordinary one. */
  static @Nullable TakenRequest of(
      HttpRequest request, List<DirectRoute> routes, InetSocketAddress peer) {
    DirectRoute route = route(request, routes);
    if (route == null || !isOrdinary(request)) {
      return null;
    }
    int length = BodyReader.announcedBytes(request.headers());
    int most = route.maxBodyBytes();
    boolean isUnannounced = length < 0 && most > 0;
    if (isUnannounced || length > most) {
      return null;
    }
    RequestHead head = RequestHead.of(request.uri(), request.headers(), peer);
    return new TakenRequest(route, head, Math.max(0, length));
  }

  private static @Nullable DirectRoute route(HttpRequest request, List<DirectRoute> routes) {
    for (DirectRoute route : routes) {
      if (route.matches(request.method(), request.uri())) {
        return route;
      }
    }
    return null;
  }

  private static boolean isOrdinary(HttpRequest request) {
    HttpHeaders headers = request.headers();
    return request.decoderResult().isSuccess()
        && request.protocolVersion().equals(HttpVersion.HTTP_1_1)
        && HttpUtil.isKeepAlive(request)
        && !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
        && !headers.contains(HttpHeaderNames.EXPECT)
        && !headers.contains(HttpHeaderNames.UPGRADE);
  }

  /** Copies and releases a part of the body. */
  void receive(HttpContent part) {
    ByteBuf bytes = part.content();
    int length = bytes.readableBytes();
    bytes.readBytes(body, received, length);
    received += length;
    complete = part instanceof LastHttpContent;
    part.release();
  }

  boolean isComplete() {
    return complete;
  }

  /** Never fails. */
  CompletionStage<HttpAnswer> decide() {
    return DirectRoutes.decide(route, head, body);
  }

  String correlationId() {
    return head.correlationId();
  }
}
