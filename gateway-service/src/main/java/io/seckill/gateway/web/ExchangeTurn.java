package io.seckill.gateway.web;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.RecvByteBufAllocator;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;
import reactor.netty.http.server.HttpServer;

/**
 * Starts every exchange in a task of its own on its connection's event loop, and ends it on that
 * loop. Without this a connection can hang for ever: a request that arrives before the previous
 * exchange has ended waits in Reactor Netty's queue (1.3.7, {@code HttpTrafficHandler.run}); when
 * it is answered while that queue is still being drained, its end is not noticed, and reading,
 * which its start had disabled, is never enabled again. That queue has no bound of its own: it gets
 * what one read delivers, so a read is short.
 */
@Component
final class ExchangeTurn implements NettyServerCustomizer {

  /**
   * A read of 4 kB has at most some 150 requests, and most heads and bodies fit into it. With an
   * allocator of its own a channel reads once at a time, not 16 times.
   */
  private static final RecvByteBufAllocator READS =
      new AdaptiveRecvByteBufAllocator(64, 2_048, 4_096);

  @Override
  public HttpServer apply(HttpServer server) {
    return server
        .mapHandle(ExchangeTurn::inTurn)
        .childOption(ChannelOption.RECVBUF_ALLOCATOR, READS);
  }

  private static Mono<Void> inTurn(Mono<Void> exchange, Connection connection) {
    return exchange
        .subscribeOn(
            Schedulers.fromExecutor(start -> connection.channel().eventLoop().execute(start)))
        .publishOn(Schedulers.fromExecutor(EventLoops.of(connection.channel())));
  }
}
