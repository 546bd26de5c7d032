package io.seckill.gateway.web;

import java.util.Set;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.MethodNotAllowedException;
import reactor.core.publisher.Mono;

/** Answers the other methods of an address that is not served by a controller. */
public final class AllowedMethods {

  private AllowedMethods() {}

  /** OPTIONS is answered with the methods of the address, every other method with 405. */
  public static Mono<ServerResponse> answer(ServerRequest request, HttpMethod... methods) {
    Set<HttpMethod> allowed = Set.of(methods);
    return request.method().equals(HttpMethod.OPTIONS)
        ? ServerResponse.ok().allow(allowed).build()
        : Mono.error(new MethodNotAllowedException(request.method(), allowed));
  }
}
