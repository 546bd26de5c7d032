package io.seckill.gateway.admission;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.seckill.common.order.OrderMessage;
import io.seckill.gateway.security.Identity;
import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.TokenVerifier;
import io.seckill.gateway.web.BodyReader;
import io.seckill.gateway.web.CorrelationId;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.HttpAnswerWriter;
import io.seckill.gateway.web.SafeText;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.HttpServerRoutes;

/**
 * {@code POST /api/v1/skus/{sku}/orders}, handled on the server's event loop because it is the hot
 * path of a sale. All input is checked here, before anything is sent to Redis.
 */
@Component
final class PurchaseRoute implements NettyRouteProvider {

  private static final String PREFIX = "/api/v1/skus/";
  private static final String SUFFIX = "/orders";
  private static final String KEY_HEADER = "Idempotency-Key";
  private static final int MIN_KEY_CHARS = 8;
  private static final int MAX_KEY_CHARS = 64;
  private static final int MAX_BODY_BYTES = 4_096;

  private static final String BAD_SKU = "The SKU in the path must be a whole number from 1.";
  private static final String BAD_KEY =
      "Idempotency-Key must be given once, as 8 to 64 letters, digits, _ or -.";

  /** A sale's own bound is lower; the script checks it with the other rules of the sale. */
  private static final String BAD_BODY =
      "The body must be a JSON object with one member, quantity, a whole number from 1 to "
          + OrderMessage.MAX_QUANTITY
          + ".";

  private final TokenVerifier tokens;
  private final RateLimits limits;
  private final Admissions admissions;
  private final AdmissionMetrics metrics;

  PurchaseRoute(
      TokenVerifier tokens, RateLimits limits, Admissions admissions, AdmissionMetrics metrics) {
    this.tokens = tokens;
    this.limits = limits;
    this.admissions = admissions;
    this.metrics = metrics;
  }

  @Override
  public HttpServerRoutes apply(HttpServerRoutes routes) {
    return routes.route(PurchaseRoute::isPurchase, this::purchase);
  }

  private static boolean isPurchase(HttpServerRequest request) {
    return request.method().equals(HttpMethod.POST) && skuText(request.uri()) != null;
  }

  private Publisher<Void> purchase(HttpServerRequest request, HttpServerResponse response) {
    metrics.request();
    String correlationId = CorrelationId.of(request);
    Mono<HttpAnswer> answer =
        BodyReader.read(request, MAX_BODY_BYTES)
            .flatMap(body -> decide(request, body, correlationId))
            .onErrorResume(
                BodyReader.TooLargeException.class,
                e -> {
                  response.keepAlive(false); // the rest of the body is not worth reading
                  return refused(ProblemCode.PAYLOAD_TOO_LARGE, correlationId);
                });
    return HttpAnswerWriter.send(response, answer, correlationId);
  }

  private Mono<HttpAnswer> decide(HttpServerRequest request, byte[] body, String correlationId) {
    HttpHeaders headers = request.requestHeaders();
    if (!limits.admitsAddress(request)) {
      return refused(ProblemCode.TOO_MANY_REQUESTS, correlationId);
    }
    Identity identity = tokens.identify(headers.get(HttpHeaderNames.AUTHORIZATION));
    if (identity == null) {
      return refused(ProblemCode.UNAUTHORIZED, correlationId);
    } else if (!identity.isShopper()) {
      return refused(ProblemCode.FORBIDDEN, correlationId);
    } else if (!limits.admitsUser(identity.userId())) {
      return refused(ProblemCode.TOO_MANY_REQUESTS, correlationId);
    }
    String sku = skuText(request.uri());
    long skuId = sku == null ? 0 : SafeText.positive(sku, OrderMessage.MAX_SKU_ID);
    List<String> keys = headers.getAll(KEY_HEADER);
    int quantity = PurchaseBody.quantity(body);
    if (skuId == 0) {
      return invalid(BAD_SKU, correlationId);
    } else if (!keys.isEmpty() && !isKey(keys)) {
      return invalid(BAD_KEY, correlationId);
    } else if (quantity == 0) {
      return invalid(BAD_BODY, correlationId);
    }
    return submit(attempt(skuId, identity.userId(), keys, quantity, headers), correlationId);
  }

  private static boolean isKey(List<String> keys) {
    return keys.size() == 1 && SafeText.isWord(keys.get(0), MIN_KEY_CHARS, MAX_KEY_CHARS);
  }

  private static PurchaseAttempt attempt(
      long skuId, long userId, List<String> keys, int quantity, HttpHeaders headers) {
    String trace = headers.get("traceparent");
    return new PurchaseAttempt(
        skuId,
        userId,
        keys.isEmpty() ? CorrelationId.orNew(null) : keys.get(0),
        !keys.isEmpty(),
        quantity,
        trace != null && SafeText.isTraceparent(trace) ? trace : null);
  }

  private Mono<HttpAnswer> submit(PurchaseAttempt attempt, String correlationId) {
    return Mono.create(
        sink -> {
          long startedNanos = System.nanoTime();
          admissions.submit(
              attempt,
              outcome -> {
                metrics.outcome(outcome, System.nanoTime() - startedNanos);
                sink.success(PurchaseAnswers.of(attempt, outcome, correlationId));
              });
        });
  }

  private static Mono<HttpAnswer> invalid(String detail, String correlationId) {
    return Mono.just(
        HttpAnswer.problem(Problem.of(ProblemCode.INVALID_REQUEST, detail), correlationId));
  }

  private static Mono<HttpAnswer> refused(ProblemCode code, String correlationId) {
    return Mono.just(HttpAnswer.problem(Problem.of(code), correlationId));
  }

  /** Returns the SKU in the path, not checked yet; null when the path is another one. */
  private static @Nullable String skuText(String uri) {
    int query = uri.indexOf('?');
    int end = (query < 0 ? uri.length() : query) - SUFFIX.length();
    if (end <= PREFIX.length()
        || !uri.startsWith(PREFIX)
        || !uri.startsWith(SUFFIX, end)
        || uri.indexOf('/', PREFIX.length()) != end) {
      return null;
    }
    return uri.substring(PREFIX.length(), end);
  }
}
