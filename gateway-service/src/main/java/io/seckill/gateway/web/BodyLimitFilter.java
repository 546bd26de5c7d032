package io.seckill.gateway.web;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Limits the size of request bodies: 413 at once when the declared length is too large, or when a
 * body without a declared length grows too long.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 4)
final class BodyLimitFilter implements WebFilter {

  /** Longest request body, in bytes: far above what an endpoint accepts. */
  private static final long MAX_BYTES = 16_384;

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    if (exchange.getRequest().getHeaders().getContentLength() > MAX_BYTES) {
      return Mono.error(new DataBufferLimitException("declared length"));
    }
    return chain.filter(exchange.mutate().request(bounded(exchange.getRequest())).build());
  }

  private ServerHttpRequest bounded(ServerHttpRequest request) {
    return new ServerHttpRequestDecorator(request) {
      @Override
      public Flux<DataBuffer> getBody() {
        AtomicLong seen = new AtomicLong();
        return super.getBody()
            .handle(
                (buffer, sink) -> {
                  if (seen.addAndGet(buffer.readableByteCount()) > MAX_BYTES) {
                    DataBufferUtils.release(buffer);
                    sink.error(new DataBufferLimitException("read length"));
                  } else {
                    sink.next(buffer);
                  }
                });
      }
    };
  }
}
