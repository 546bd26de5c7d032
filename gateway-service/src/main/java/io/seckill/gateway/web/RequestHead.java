package io.seckill.gateway.web;

import io.netty.handler.codec.http.HttpHeaders;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A request for a {@link DirectRoute}, without its body.
 *
 * @param uri path and query, not decoded
 * @param peer the other end of the connection; null when it is not known
 * @param correlationId as checked or made by {@link CorrelationId}
 */
public record RequestHead(
    String uri, HttpHeaders headers, @Nullable InetSocketAddress peer, String correlationId) {

  static RequestHead of(String uri, HttpHeaders headers, @Nullable InetSocketAddress peer) {
    String correlationId = CorrelationId.orNew(headers.get(CorrelationId.HEADER));
    return new RequestHead(uri, headers, peer, correlationId);
  }
}
