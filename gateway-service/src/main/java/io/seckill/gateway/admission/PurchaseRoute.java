package io.seckill.gateway.admission;

import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.WholeNumber;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.web.CorrelationId;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.RequestHead;
import io.seckill.gateway.web.SafeText;
import io.seckill.gateway.web.ShopperCheck;
import io.seckill.gateway.web.ShopperRoute;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * {@code POST /api/v1/skus/{sku}/orders}, handled on the server's event loop because it is the hot
 * path of a sale. All input is checked here, before anything is sent to Redis.
 */
@Component
record PurchaseRoute(
    ShopperCheck shoppers,
    Admissions admissions,
    ShardedPurchases shards,
    LateOutcomes late,
    AdmissionMetrics metrics,
    AdmissionProperties settings)
    implements ShopperRoute {

  private static final String PREFIX = "/api/v1/skus/";
  private static final String SUFFIX = "/orders";
  private static final String KEY_HEADER = "Idempotency-Key";
  private static final int MIN_KEY_CHARS = 8;
  private static final int MAX_KEY_CHARS = 64;
  private static final int MAX_BODY_BYTES = 4_096;

  private static final String BAD_SKU =
      "The SKU in the path must be a whole number from 1 to 2^52-1.";
  private static final String BAD_KEY =
      "Idempotency-Key must be given once, as 8 to 64 letters, digits, _ or -.";

  /** A sale's own bound is lower; the script checks it with the other rules of the sale. */
  private static final String BAD_BODY =
      "The body must be a JSON object with one member, quantity, a whole number from 1 to "
          + OrderMessage.MAX_QUANTITY
          + ".";

  @Override
  public boolean matches(HttpMethod method, String uri) {
    return method.equals(HttpMethod.POST) && skuText(uri) != null;
  }

  @Override
  public int maxBodyBytes() {
    return MAX_BODY_BYTES;
  }

  @Override
  public CompletionStage<HttpAnswer> answer(long userId, RequestHead head, byte[] body) {
    if (!head.sendsJson()) {
      return shoppers.refused(ProblemCode.UNSUPPORTED_MEDIA_TYPE, head);
    } else if (!head.acceptsJson()) {
      return shoppers.refused(ProblemCode.NOT_ACCEPTABLE, head);
    }
    HttpHeaders headers = head.headers();
    String sku = skuText(head.uri());
    long skuId = sku == null ? 0 : WholeNumber.positive(sku);
    List<String> keys = headers.getAll(KEY_HEADER);
    int quantity = quantity(body);
    if (skuId == 0 || (skuId >= Shards.FIRST_ID && !isInWarmUp(skuId, headers))) {
      return invalid("skuId", BAD_SKU, head);
    } else if (!keys.isEmpty() && !isKey(keys)) {
      return invalid(KEY_HEADER, BAD_KEY, head);
    } else if (quantity == 0) {
      return invalid("quantity", BAD_BODY, head);
    }
    return submit(attempt(skuId, userId, keys, quantity, headers), head.correlationId());
  }

  private boolean isInWarmUp(long skuId, HttpHeaders headers) {
    return skuId == PathIds.NEVER_ON_SALE && shoppers.limits().isWarmUp(headers);
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

  private CompletionStage<HttpAnswer> submit(PurchaseAttempt attempt, String correlationId) {
    CompletableFuture<Admission> decided = new CompletableFuture<>();
    metrics.request();
    long startedNanos = System.nanoTime();
    PurchaseAttempt decidedAs = shards.inShard(attempt);
    Consumer<Admission> answer =
        outcome -> late.complete(attempt, decidedAs.skuId(), outcome, decided);
    boolean isStrong =
        admissions.submit(
            decidedAs,
            shards.untilProven(decidedAs, answer),
            shards.whileUnitsAreLeft(decidedAs, decided::complete));
    return decided.thenApply(
        outcome -> {
          metrics.outcome(outcome, isStrong, System.nanoTime() - startedNanos);
          return PurchaseAnswers.of(attempt, outcome, settings.durableIn(), correlationId);
        });
  }

  private CompletionStage<HttpAnswer> invalid(String field, String detail, RequestHead head) {
    Problem problem = new Problem(ProblemCode.INVALID_REQUEST, detail, field, null, null);
    return CompletableFuture.completedFuture(shoppers.refusal(problem, head));
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

  /**
   * Returns the quantity if the body is a JSON object in UTF-8 with exactly this member, an integer
   * 1..10,000, as {@code {"quantity":2}}. Returns 0 for any other body.
   */
  private static int quantity(byte[] body) {
    try (JsonParser parser = OrderMessageCodec.JSON.createParser(ObjectReadContext.empty(), body)) {
      return quantity(parser);
    } catch (JacksonException e) {
      return 0;
    }
  }

  private static int quantity(JsonParser parser) {
    long quantity = 0;
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      return 0;
    }
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean known = parser.currentName().equals("quantity");
      if (!known || parser.nextToken() != JsonToken.VALUE_NUMBER_INT) {
        return 0;
      }
      quantity = parser.getLongValue();
    }
    boolean complete = parser.currentToken() == JsonToken.END_OBJECT && parser.nextToken() == null;
    boolean inBounds = quantity >= 1 && quantity <= OrderMessage.MAX_QUANTITY;
    return complete && inBounds ? (int) quantity : 0;
  }
}
