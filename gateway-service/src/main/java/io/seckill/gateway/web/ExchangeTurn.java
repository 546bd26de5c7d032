package io.seckill.gateway.web;

import io.seckill.gateway.http.EventLoops;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;
import reactor.netty.http.server.HttpServer;

/**
 * Gives every exchange a turn of its own on its connection's event loop, at its start and at its
 * end. Without it a connection falls silent for ever: a request that came before the exchange
 * before it had ended waits in Reactor Netty's queue (1.3.7, {@code HttpTrafficHandler.run}); when
 * it is answered while the queue is still being emptied, its end passes unseen, and reading, which
 * its start had switched off, is never switched on again.
 */
@Component
final class ExchangeTurn implements NettyServerCustomizer {

  @Override
  public HttpServer apply(HttpServer server) {
    return server.mapHandle(ExchangeTurn::inTurn);
  }

  private static Mono<Void> inTurn(Mono<Void> exchange, Connection connection) {
    return exchange
        .subscribeOn(Schedulers.fromExecutor(start -> runLater(connection, start)))
        .publishOn(Schedulers.fromExecutor(EventLoops.of(connection)));
  }

  private static void runLater(Connection connection, Runnable start) {
    connection.channel().eventLoop().execute(start);
  }
}
