package io.seckill.gateway.backends;

import io.netty.channel.ChannelOption;
import io.seckill.common.sale.LoadSettings;
import io.seckill.common.sale.SaleState;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.Operator;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ClientHttpRequest;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientRequest;
import reactor.netty.resources.ConnectionProvider;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls order-consumer's internal port. Its refusals (4xx) are returned as problems with its codes;
 * every other failure becomes 503 {@value #UNAVAILABLE}: the outcome of a write is then unknown,
 * and the same call may be repeated. Never blocks.
 */
@Component
public final class ConsumerClient implements DisposableBean {

  /** Problem code: order-consumer is unavailable, too slow, or sent an invalid response. */
  public static final String UNAVAILABLE = "DATABASE_UNAVAILABLE";

  public static final String IDEMPOTENCY_KEY_HEADER = "Idempotency-Key";

  private static final Logger log = LoggerFactory.getLogger(ConsumerClient.class);
  private static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;
  private static final Pattern CODE = Pattern.compile("[A-Z][A-Z0-9_]{1,63}");
  private static final Pattern SENTENCE = Pattern.compile("[\\x20-\\x7e]{1,300}");
  private static final Pattern MEMBER = Pattern.compile("[A-Za-z0-9_]{1,64}");

  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final ConnectionProvider connections;
  private final WebClient client;
  private final Duration timeout;
  private final Duration reconciliationTimeout;

  ConsumerClient(
      ConsumerProperties settings, InternalToken internal, ReactorResourceFactory resources) {
    this.timeout = settings.timeout();
    this.reconciliationTimeout = settings.reconciliationTimeout();
    this.connections =
        ConnectionProvider.builder("order-consumer")
            .maxConnections(settings.maxConnections())
            .pendingAcquireMaxCount(settings.maxWaiting())
            .pendingAcquireTimeout(settings.timeout())
            .maxIdleTime(Duration.ofSeconds(20))
            .build();
    HttpClient http =
        HttpClient.create(connections)
            .runOn(resources.getLoopResources())
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) settings.connectTimeout().toMillis())
            .responseTimeout(settings.timeout());
    this.client = client(settings, internal, http);
  }

  private static WebClient client(
      ConsumerProperties settings, InternalToken internal, HttpClient http) {
    return WebClient.builder()
        .baseUrl(settings.url().toString())
        .clientConnector(new ReactorClientHttpConnector(http))
        .defaultHeader(HttpHeaders.AUTHORIZATION, "Bearer " + internal.token())
        .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(MAX_ANSWER_BYTES))
        .build();
  }

  /** Returns the product; fails with 404 UNKNOWN_SKU when MySQL has no such SKU. */
  public Mono<ProductRow> product(long skuId) {
    return exchange(HttpMethod.GET, sku(skuId, ""), null, Map.of()).map(ConsumerClient::product);
  }

  /** The conservation equation of a SKU, read at most half a second ago. */
  public Mono<ConsumerAnswer> ledger(long skuId) {
    return exchange(HttpMethod.GET, sku(skuId, "/ledger"), null, Map.of());
  }

  /** Creates or edits a SKU; the status tells which. */
  public Mono<ConsumerAnswer> putProduct(long skuId, ProductEdit edit, String operator) {
    return exchange(HttpMethod.PUT, sku(skuId, ""), edit, Map.of(Operator.HEADER, operator));
  }

  /**
   * Raises the epoch; 409 while the sale runs or has orders in flight.
   *
   * @param loading stored with the product, so that a rebuild loads it with the same settings
   */
  public Mono<ProductRow> preheat(long skuId, LoadSettings loading, String operator) {
    return exchange(
            HttpMethod.POST,
            sku(skuId, "/preheat"),
            Map.of(
                "maxPerOrder", loading.maxPerOrder(),
                "retentionSeconds", loading.retention().toSeconds()),
            Map.of(Operator.HEADER, operator))
        .map(ConsumerClient::product);
  }

  /** Changes the sale's state; 409 when the transition is not legal. */
  public Mono<ProductRow> changeState(long skuId, SaleState state, String operator) {
    return exchange(
            HttpMethod.POST,
            sku(skuId, "/state"),
            Map.of("state", state.name()),
            Map.of(Operator.HEADER, operator))
        .map(ConsumerClient::product);
  }

  /** Adds or withdraws units in MySQL and Redis, once per idempotency key. */
  public Mono<ConsumerAnswer> changeStock(
      long skuId, long delta, String reason, String key, String operator) {
    return exchange(
        HttpMethod.POST,
        sku(skuId, "/stock"),
        Map.of("delta", delta, "reason", reason),
        Map.of(Operator.HEADER, operator, IDEMPOTENCY_KEY_HEADER, key));
  }

  /**
   * Performs an action of the owner on an order.
   *
   * @param action {@code payment} or {@code cancel}
   */
  public Mono<ConsumerAnswer> onOrder(String orderId, String action, long userId) {
    return exchange(
        HttpMethod.POST,
        "/internal/v1/orders/" + orderId + '/' + action,
        Map.of("userId", userId),
        Map.of());
  }

  /**
   * A page of dead letters, oldest first.
   *
   * @param query already checked and encoded, starting with {@code ?}, or empty
   */
  public Mono<ConsumerAnswer> deadLetters(String query) {
    return exchange(HttpMethod.GET, "/internal/v1/dead-letters" + query, null, Map.of());
  }

  /** One dead letter with its payload. */
  public Mono<ConsumerAnswer> deadLetter(long id) {
    return exchange(HttpMethod.GET, "/internal/v1/dead-letters/" + id, null, Map.of());
  }

  /** Processes a dead letter again, with all checks. */
  public Mono<ConsumerAnswer> replay(long id, String operator) {
    return exchange(
        HttpMethod.POST,
        "/internal/v1/dead-letters/" + id + "/replay",
        Map.of(),
        Map.of(Operator.HEADER, operator));
  }

  /** Discards a dead letter permanently. */
  public Mono<ConsumerAnswer> discard(long id, String reason, String operator) {
    return exchange(
        HttpMethod.POST,
        "/internal/v1/dead-letters/" + id + "/discard",
        Map.of("reason", reason),
        Map.of(Operator.HEADER, operator));
  }

  /** Compares Redis with MySQL and repairs Redis; a dry run only reports the differences. */
  public Mono<ConsumerAnswer> reconcile(long skuId, boolean dryRun, String operator) {
    return exchange(
        HttpMethod.POST,
        sku(skuId, "/reconciliation"),
        Map.of("dryRun", dryRun),
        Map.of(Operator.HEADER, operator),
        reconciliationTimeout);
  }

  /**
   * Reports that a Redis server has taken over that lacks some of a SKU's admissions.
   *
   * @param seq the highest admission sequence before the takeover
   */
  public Mono<ConsumerAnswer> reportLostAdmissions(long skuId, long epoch, long seq) {
    return exchange(
        HttpMethod.POST,
        sku(skuId, "/lost-admissions"),
        Map.of("epoch", epoch, "seq", seq),
        Map.of());
  }

  /** The findings of the latest reconciliations of a SKU. */
  public Mono<ConsumerAnswer> reconciliations(long skuId) {
    return exchange(HttpMethod.GET, sku(skuId, "/reconciliation"), null, Map.of());
  }

  /** Whether order-consumer answers and reports itself ready. Never fails. */
  public Mono<Boolean> isReady() {
    return client
        .get()
        .uri("/actuator/health/readiness")
        .exchangeToMono(
            answer -> answer.releaseBody().thenReturn(answer.statusCode().value() == 200))
        .timeout(timeout)
        .onErrorReturn(false);
  }

  @Override
  public void destroy() {
    connections.disposeLater().block(timeout);
  }

  private static String sku(long skuId, String rest) {
    return "/internal/v1/skus/" + skuId + rest;
  }

  private Mono<ConsumerAnswer> exchange(
      HttpMethod method, String path, @Nullable Object body, Map<String, String> headers) {
    return exchange(method, path, body, headers, timeout);
  }

  private Mono<ConsumerAnswer> exchange(
      HttpMethod method,
      String path,
      @Nullable Object body,
      Map<String, String> headers,
      Duration within) {
    WebClient.RequestBodySpec request =
        client
            .method(method)
            .uri(path)
            .headers(all -> headers.forEach(all::set))
            .httpRequest(raw -> responseWithin(raw, within));
    if (body != null) {
      request.contentType(MediaType.APPLICATION_JSON).bodyValue(JSON.writeValueAsBytes(body));
    }
    return request
        .exchangeToMono(ConsumerClient::read)
        .timeout(within)
        .onErrorMap(
            failure -> !(failure instanceof ProblemException), f -> unanswered(method, path, f));
  }

  private static void responseWithin(ClientHttpRequest request, Duration within) {
    HttpClientRequest connection = request.getNativeRequest();
    connection.responseTimeout(within);
  }

  private static ProblemException unanswered(HttpMethod method, String path, Throwable failure) {
    log.warn("order-consumer did not answer {} {}: {}", method, path, failure.toString());
    return unavailable();
  }

  private static ProblemException unavailable() {
    return ProblemException.unavailable(
        UNAVAILABLE,
        "The order service cannot be reached at the moment; the same request may be repeated.");
  }

  private static Mono<ConsumerAnswer> read(ClientResponse response) {
    int status = response.statusCode().value();
    return response
        .bodyToMono(byte[].class)
        .defaultIfEmpty(new byte[0])
        .map(bytes -> answer(status, bytes));
  }

  private static ConsumerAnswer answer(int status, byte[] bytes) {
    JsonNode body = bytes.length == 0 ? JSON.createObjectNode() : JSON.readTree(bytes);
    if (status >= 200 && status < 300) {
      return new ConsumerAnswer(status, body);
    }
    // 401 and 403 refuse the gateway's own token, not the caller's.
    if (status >= 400 && status < 500 && status != 401 && status != 403) {
      throw new ProblemException(refusal(status, body));
    }
    throw new IllegalStateException("answered " + status);
  }

  private static Problem refusal(int status, JsonNode body) {
    return new Problem(
        status,
        text(body, "code", CODE, "REFUSED"),
        text(body, "detail", SENTENCE, "The database refuses."),
        textOrNull(body, "field", MEMBER),
        textOrNull(body, "orderStatus", CODE),
        textOrNull(body, "saleState", CODE),
        null);
  }

  private static String text(JsonNode body, String name, Pattern accepted, String otherwise) {
    String value = textOrNull(body, name, accepted);
    return value == null ? otherwise : value;
  }

  /** Text from another service is passed on to callers only when it matches the pattern. */
  private static @Nullable String textOrNull(JsonNode body, String name, Pattern accepted) {
    JsonNode value = body.path(name);
    return value.isString() && accepted.matcher(value.stringValue()).matches()
        ? value.stringValue()
        : null;
  }

  /** Parses the product row of a response. */
  public static ProductRow product(ConsumerAnswer answer) {
    try {
      return JSON.treeToValue(answer.body(), ProductRow.class);
    } catch (JacksonException e) {
      log.warn("order-consumer's response is not a product row: {}", e.getOriginalMessage());
      throw unavailable();
    }
  }
}
