package io.seckill.gateway.web;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.stereotype.Component;
import reactor.netty.http.server.HttpServer;

/**
 * Closes idle connections: a connection without traffic in either direction is closed, also in the
 * middle of a request head or body. Event streams stay open, because something is written to them;
 * the kernel closes those whose reader no longer acknowledges it. The bean is that of the shoppers'
 * port.
 */
@Component
final class IdleTimeout implements NettyServerCustomizer {

  /**
   * Longer than an event stream goes without a heartbeat, than any response takes, and than the
   * minute for which load balancers usually keep a connection.
   */
  private static final Duration IDLE = Duration.ofSeconds(75);

  /**
   * How long bytes may stay unacknowledged. What is written to a device that has changed its
   * network counts as traffic; without this limit its streams keep their places for a quarter of an
   * hour.
   */
  static final int UNACKNOWLEDGED_MS = 45_000;

  private final Duration idle;

  @Autowired
  IdleTimeout() {
    this(IDLE);
  }

  /** {@code idle} is the longest time without traffic on a connection. */
  IdleTimeout(Duration idle) {
    this.idle = idle;
  }

  @Override
  public HttpServer apply(HttpServer server) {
    HttpServer bounded =
        Epoll.isAvailable() // the JDK has no such option
            ? server.childOption(EpollChannelOption.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)
            : server;
    return bounded.doOnChannelInit(
        (observer, channel, remote) -> channel.pipeline().addFirst(new Silence(idle)));
  }

  /**
   * One handler and one timer for the life of a connection. Reactor Netty's own idle time-out adds
   * and removes a handler at each request, and does not detect a body that stalls.
   */
  private static final class Silence extends IdleStateHandler {

    Silence(Duration longest) {
      super(0, 0, longest.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    protected void channelIdle(ChannelHandlerContext context, IdleStateEvent event) {
      var unused = context.close();
    }
  }
}
