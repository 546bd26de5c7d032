package io.seckill.gateway.web;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * A request for a {@link DirectRoute}, without its body.
 *
 * @param uri path and query, as {@link RequestTarget} writes them
 * @param peer the other end of the connection; null when it is not known
 * @param correlationId as checked or made by {@link CorrelationId}
 */
public record RequestHead(
    String uri, HttpHeaders headers, @Nullable InetSocketAddress peer, String correlationId) {

  static RequestHead of(String uri, HttpHeaders headers, @Nullable InetSocketAddress peer) {
    String correlationId = CorrelationId.orNew(headers.get(CorrelationId.HEADER));
    return new RequestHead(uri, headers, peer, correlationId);
  }

  /** Whether the body, if any, is said to be JSON, or is not said to be anything. */
  public boolean sendsJson() {
    String type = headers.get(HttpHeaderNames.CONTENT_TYPE);
    if (type == null || type.equals(MediaType.APPLICATION_JSON_VALUE)) {
      return true;
    }
    try {
      return MediaType.parseMediaType(type).equalsTypeAndSubtype(MediaType.APPLICATION_JSON);
    } catch (InvalidMediaTypeException e) {
      return false;
    }
  }

  public boolean acceptsJson() {
    String first = headers.get(HttpHeaderNames.ACCEPT);
    if (first == null || first.equals("*/*") || first.equals(MediaType.APPLICATION_JSON_VALUE)) {
      return true;
    }
    try {
      List<MediaType> accepted = MediaType.parseMediaTypes(headers.getAll(HttpHeaderNames.ACCEPT));
      return accepted.isEmpty()
          || accepted.stream().anyMatch(MediaType.APPLICATION_JSON::isCompatibleWith);
    } catch (InvalidMediaTypeException e) {
      return false;
    }
  }
}
