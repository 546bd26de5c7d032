package io.seckill.gateway.web;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.seckill.gateway.security.Identity;
import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.TokenVerifier;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.stereotype.Component;

/**
 * Admits a request to a {@link ShopperRoute} when its token is a shopper's, and its address and its
 * user are within their rate limits. Thread-safe.
 */
@Component
public record ShopperCheck(
    TokenVerifier tokens, RateLimits limits, RefusedRequests refusedRequests) {

  /** The route's answer, or a refusal. */
  CompletionStage<HttpAnswer> answer(ShopperRoute route, RequestHead head, byte[] body) {
    HttpHeaders headers = head.headers();
    if (!limits.admitsAddress(head.peer(), headers) && !limits.isWarmUp(headers)) {
      return refused(ProblemCode.TOO_MANY_REQUESTS, head);
    }
    Identity identity = tokens.identify(headers.get(HttpHeaderNames.AUTHORIZATION));
    if (identity == null) {
      return refused(tokens.refusal(), head);
    } else if (!identity.isShopper()) {
      return refused(ProblemCode.FORBIDDEN, head);
    } else if (!limits.admitsUser(identity.userId()) && !limits.isWarmUp(headers)) {
      return refused(ProblemCode.TOO_MANY_REQUESTS, head);
    }
    return route.answer(identity.userId(), head, body);
  }

  /** As {@link #refusal}, completed already. */
  public CompletionStage<HttpAnswer> refused(ProblemCode code, RequestHead head) {
    return CompletableFuture.completedFuture(refusal(Problem.of(code), head));
  }

  /** The answer to a request that the route refuses, which is counted. */
  public HttpAnswer refusal(Problem problem, RequestHead head) {
    refusedRequests.count(problem.code());
    return HttpAnswer.problem(problem, head.correlationId());
  }
}
