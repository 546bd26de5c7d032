package io.seckill.gateway.web;

import io.netty.channel.ChannelPipeline;
import java.util.List;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.stereotype.Component;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/** Gives every HTTP/1.1 connection of the shoppers' port its {@link DirectHandler}. */
@Component
final class DirectHandlers implements NettyServerCustomizer {

  private final List<DirectRoute> routes;
  private final OpenRequests open;

  DirectHandlers(List<DirectRoute> routes, OpenRequests open) {
    this.routes = routes;
    this.open = open;
  }

  @Override
  public HttpServer apply(HttpServer server) {
    return server.doOnChannelInit((observer, channel, remote) -> addTo(channel.pipeline()));
  }

  /** A connection whose protocol is still to be negotiated has no codec, and gets no handler. */
  private void addTo(ChannelPipeline pipeline) {
    if (pipeline.get(NettyPipeline.HttpCodec) != null) {
      pipeline.addAfter(
          NettyPipeline.HttpCodec,
          DirectHandler.class.getSimpleName(),
          new DirectHandler(routes, open));
    }
  }
}
