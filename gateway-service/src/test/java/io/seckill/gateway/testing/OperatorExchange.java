package io.seckill.gateway.testing;

import io.seckill.gateway.security.Identity;
import io.seckill.gateway.web.Caller;
import io.seckill.gateway.web.CorrelationFilter;
import java.util.Set;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;

/** A request of an operator, as the filters leave it to handlers. */
public final class OperatorExchange {

  private OperatorExchange() {}

  public static ServerWebExchange of(String operator, String correlationId) {
    ServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.post("/"));
    exchange
        .getAttributes()
        .put(Caller.class.getName(), new Identity(0, operator, Set.of(Identity.ADMIN_SCOPE)));
    exchange.getAttributes().put(CorrelationFilter.class.getName(), correlationId);
    return exchange;
  }
}
