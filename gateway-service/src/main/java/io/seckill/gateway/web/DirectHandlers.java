package io.seckill.gateway.web;

import java.util.List;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.stereotype.Component;
import reactor.netty.http.server.HttpServer;

/**
 * Gives every HTTP/1.1 connection of the shoppers' port its {@link MessageRules} and its {@link
 * DirectHandler}.
 */
@Component
record DirectHandlers(List<DirectRoute> routes, OpenRequests open, RefusedRequests refused)
    implements NettyServerCustomizer {

  @Override
  public HttpServer apply(HttpServer server) {
    return server.doOnChannelInit(
        (observer, channel, remote) ->
            MessageRules.addTo(channel.pipeline(), refused, new DirectHandler(routes, open)));
  }
}
