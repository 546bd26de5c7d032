package io.seckill.gateway.backends;

import io.netty.channel.ChannelOption;
import io.seckill.common.sale.SaleState;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.Operator;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
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
import reactor.core.publisher.Flux;
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
 * every other failure becomes 503 DATABASE_UNAVAILABLE: the outcome of a write is then unknown, and
 * the same call may be repeated. Only {@link #decide}, {@link #heartbeat}, {@link #handOver} and
 * {@link #deregister} block.
 */
@Component
public final class ConsumerClient implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(ConsumerClient.class);
  private static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;
  private static final Pattern WORD = Pattern.compile("[A-Z][A-Z0-9_]{1,63}");
  private static final Pattern SENTENCE = Pattern.compile("[\\x20-\\x7e]{1,300}");
  private static final Pattern MEMBER = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /** An order-consumer that is reachable accepts within milliseconds. */
  private static final int CONNECT_TIMEOUT_MS = 500;

  /** More than order-consumer has connections to MySQL, which are the narrower bound. */
  private static final int MAX_SHOPPER_CONNECTIONS = 32;

  /** For operators and probes, whom shoppers' payments and cancels must not delay. */
  private static final int MAX_OPERATOR_CONNECTIONS = 16;

  /** Of each SKU one report at a time is under way; each is one short transaction. */
  private static final int MAX_LOSS_CONNECTIONS = 4;

  /** Requests that may wait for a connection; further ones are refused at once. */
  private static final int MAX_WAITING = 256;

  /**
   * For a preheat or an edit, which write all of a sale's data to Redis, and for a reconciliation,
   * which waits for orders in flight to settle.
   */
  private static final Duration LONG_TIMEOUT = Duration.ofMinutes(5);

  /** One for heartbeats, one for a transfer: no other call may delay them. */
  private static final int MAX_HEARTBEAT_CONNECTIONS = 2;

  private static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(1);

  /** As many batches of purchases as a gateway has at once, and those whose time is up. */
  private static final int MAX_PURCHASE_CONNECTIONS = 8;

  /** This process among all gateways. */
  private final String gateway =
      "/internal/v1/gateways/" + UUID.randomUUID().toString().replace("-", "");

  private final URI url;
  private final Pool shoppers;
  private final Pool operators;
  private final Pool losses;
  private final Pool purchases;
  private final Pool heartbeats;
  private final Duration timeout;

  /** Connections for one kind of calls, so that no other kind waits behind them. */
  private record Pool(ConnectionProvider connections, WebClient client) {}

  /** For whom a call is made, which decides what is said when order-consumer does not answer. */
  private enum Requester {
    GATEWAY("The order service cannot be reached at the moment; the same request may be repeated."),
    OPERATOR(
        "order-consumer is not available; pause and close still work. Repeat the call when it"
            + " answers: it may have been carried out.");

    private final String unavailable;

    Requester(String unavailable) {
      this.unavailable = unavailable;
    }
  }

  ConsumerClient(
      ConsumerProperties settings, InternalToken internal, ReactorResourceFactory resources) {
    this.url = settings.url();
    this.timeout = settings.timeout();
    this.shoppers = pool("shoppers", MAX_SHOPPER_CONNECTIONS, settings, internal, resources);
    this.operators = pool("operators", MAX_OPERATOR_CONNECTIONS, settings, internal, resources);
    this.losses = pool("losses", MAX_LOSS_CONNECTIONS, settings, internal, resources);
    this.purchases = pool("purchases", MAX_PURCHASE_CONNECTIONS, settings, internal, resources);
    this.heartbeats = pool("heartbeats", MAX_HEARTBEAT_CONNECTIONS, settings, internal, resources);
  }

  private static Pool pool(
      String callers,
      int maxConnections,
      ConsumerProperties settings,
      InternalToken internal,
      ReactorResourceFactory resources) {
    ConnectionProvider connections =
        ConnectionProvider.builder("order-consumer-" + callers)
            .maxConnections(maxConnections)
            .pendingAcquireMaxCount(MAX_WAITING)
            .pendingAcquireTimeout(settings.timeout())
            .maxIdleTime(Duration.ofSeconds(20))
            .build();
    return new Pool(connections, client(connections, settings, internal, resources));
  }

  private static WebClient client(
      ConnectionProvider connections,
      ConsumerProperties settings,
      InternalToken internal,
      ReactorResourceFactory resources) {
    HttpClient http =
        HttpClient.create(connections)
            .runOn(resources.getLoopResources())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
            .responseTimeout(settings.timeout());
    return WebClient.builder()
        .clientConnector(new ReactorClientHttpConnector(http))
        .defaultHeader(HttpHeaders.AUTHORIZATION, "Bearer " + internal.token())
        .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(MAX_ANSWER_BYTES))
        .build();
  }

  /**
   * Passes an operator's call on. Order-consumer's problem is returned unchanged, also a 503.
   *
   * @param pathAndQuery below {@code /internal/v1}, encoded
   * @param body JSON as received; null for none
   * @param isLong whether the call may load a sale or wait for orders in flight
   */
  public Mono<ConsumerAnswer> forward(
      HttpMethod method,
      String pathAndQuery,
      byte @Nullable [] body,
      Map<String, String> headers,
      boolean isLong) {
    return exchange(
        operators,
        method,
        "/internal/v1" + pathAndQuery,
        body,
        headers,
        isLong ? LONG_TIMEOUT : timeout,
        Requester.OPERATOR);
  }

  /** The conservation equation of a SKU, read at most half a second ago. */
  public Mono<ConsumerAnswer> ledger(long skuId) {
    return exchange(operators, HttpMethod.GET, sku(skuId, "/ledger"), null, Map.of());
  }

  /** Who decides the sales of Redis, and what each gateway finds of it. */
  public Mono<ConsumerAnswer> fallback() {
    return exchange(operators, HttpMethod.GET, "/internal/v1/fallback", null, Map.of());
  }

  /** What the order-consumer that answers has counted since its start. */
  public Mono<ConsumerAnswer> metrics() {
    return exchange(operators, HttpMethod.GET, "/internal/v1/metrics/summary", null, Map.of());
  }

  /** Changes the sale's state; 409 when the transition is not legal. */
  public Mono<ProductRow> changeState(long skuId, SaleState state, String operator) {
    return exchange(
            operators,
            HttpMethod.POST,
            sku(skuId, "/state"),
            json(Map.of("state", state.name())),
            Map.of(Operator.HEADER, operator))
        .map(ConsumerClient::product);
  }

  /**
   * Performs an action of the owner on an order.
   *
   * @param action {@code payment} or {@code cancel}
   */
  public Mono<ConsumerAnswer> onOrder(String orderId, String action, long userId) {
    return exchange(
        shoppers,
        HttpMethod.POST,
        "/internal/v1/orders/" + orderId + '/' + action,
        json(Map.of("userId", userId)),
        Map.of());
  }

  /**
   * Reports that a Redis server has taken over that lacks some of a SKU's admissions.
   *
   * @param seq the highest admission sequence before the takeover
   */
  public Mono<ConsumerAnswer> reportLostAdmissions(long skuId, long epoch, long seq) {
    return exchange(
        losses,
        HttpMethod.POST,
        sku(skuId, "/lost-admissions"),
        json(Map.of("epoch", epoch, "seq", seq)),
        Map.of());
  }

  /**
   * Lets order-consumer decide purchases of strong sales. Uses connections of its own, so that no
   * other call waits behind purchases. Blocks.
   *
   * @param within longest wait for the answer; {@code seckill.consumer.timeout} if that is shorter
   * @throws RuntimeException when there is no answer, or none with outcomes; the purchases may have
   *     been decided
   */
  public ConsumerAnswer decide(Map<String, ?> batch, Duration within) {
    Duration shorter = within.compareTo(timeout) < 0 ? within : timeout;
    return Objects.requireNonNull(
        send(
                purchases,
                HttpMethod.POST,
                "/internal/v1/purchases",
                json(batch),
                Map.of(),
                shorter,
                Requester.GATEWAY)
            .block());
  }

  /**
   * Reports this gateway's view of Redis. Blocks.
   *
   * @return the term of the last fallback, and when breakers open
   * @throws RuntimeException when there is no answer within a second
   */
  public ConsumerAnswer heartbeat(Map<String, ?> body) {
    return ask(HttpMethod.PUT, gateway, body, HEARTBEAT_TIMEOUT);
  }

  /**
   * Hands over orders that Redis admitted for this gateway. Blocks.
   *
   * @throws RuntimeException when it is not known whether they are stored; repeat it
   */
  public void handOver(Map<String, ?> body) {
    var unused = ask(HttpMethod.POST, gateway + "/handover", body, timeout);
  }

  /**
   * Ends the registration that heartbeats make. Blocks.
   *
   * @throws RuntimeException when it is not known whether it has ended
   */
  public void deregister() {
    var unused = ask(HttpMethod.DELETE, gateway, Map.of(), HEARTBEAT_TIMEOUT);
  }

  private ConsumerAnswer ask(HttpMethod method, String path, Map<String, ?> body, Duration within) {
    return Objects.requireNonNull(
        send(heartbeats, method, path, json(body), Map.of(), within, Requester.GATEWAY).block());
  }

  /** Whether order-consumer answers and reports itself ready. Never fails. */
  public Mono<Boolean> isReady() {
    return operators
        .client()
        .get()
        .uri(url.resolve("/actuator/health/readiness"))
        .exchangeToMono(
            answer -> answer.releaseBody().thenReturn(answer.statusCode().value() == 200))
        .timeout(timeout)
        .onErrorReturn(false);
  }

  @Override
  public void destroy() {
    Flux.just(shoppers, operators, losses, purchases, heartbeats)
        .flatMap(pool -> pool.connections().disposeLater())
        .then()
        .block(timeout);
  }

  private static String sku(long skuId, String rest) {
    return "/internal/v1/skus/" + skuId + rest;
  }

  private static byte[] json(Map<String, ?> body) {
    return JSON.writeValueAsBytes(body);
  }

  private Mono<ConsumerAnswer> exchange(
      Pool pool,
      HttpMethod method,
      String path,
      byte @Nullable [] body,
      Map<String, String> headers) {
    return exchange(pool, method, path, body, headers, timeout, Requester.GATEWAY);
  }

  private Mono<ConsumerAnswer> exchange(
      Pool pool,
      HttpMethod method,
      String path,
      byte @Nullable [] body,
      Map<String, String> headers,
      Duration within,
      Requester requester) {
    return send(pool, method, path, body, headers, within, requester)
        .onErrorMap(
            failure -> !(failure instanceof ProblemException),
            failure -> unanswered(method, path, requester, failure));
  }

  private Mono<ConsumerAnswer> send(
      Pool pool,
      HttpMethod method,
      String path,
      byte @Nullable [] body,
      Map<String, String> headers,
      Duration within,
      Requester requester) {
    WebClient.RequestBodySpec request =
        pool.client()
            .method(method)
            .uri(url.resolve(path))
            .headers(all -> headers.forEach(all::set))
            .httpRequest(raw -> responseWithin(raw, within));
    if (body != null) {
      request.contentType(MediaType.APPLICATION_JSON).bodyValue(body);
    }
    return request.exchangeToMono(response -> read(response, requester)).timeout(within);
  }

  private static void responseWithin(ClientHttpRequest request, Duration within) {
    HttpClientRequest connection = request.getNativeRequest();
    connection.responseTimeout(within);
  }

  private static ProblemException unanswered(
      HttpMethod method, String path, Requester requester, Throwable failure) {
    log.warn("order-consumer did not answer {} {}: {}", method, path, failure.toString());
    return ProblemException.of(ProblemCode.DATABASE_UNAVAILABLE, requester.unavailable);
  }

  private static Mono<ConsumerAnswer> read(ClientResponse response, Requester requester) {
    int status = response.statusCode().value();
    return response
        .bodyToMono(byte[].class)
        .defaultIfEmpty(new byte[0])
        .map(bytes -> answer(status, bytes, requester));
  }

  private static ConsumerAnswer answer(int status, byte[] bytes, Requester requester) {
    JsonNode body = bytes.length == 0 ? JSON.createObjectNode() : JSON.readTree(bytes);
    if (status >= 200 && status < 300) {
      return new ConsumerAnswer(status, body);
    }
    // 401 and 403 refuse the gateway's own token, not the caller's.
    if (status >= 400 && status < 500 && status != 401 && status != 403) {
      throw new ProblemException(refusal(status, body));
    }
    if (status == 503 && requester == Requester.OPERATOR && text(body, "code", WORD) != null) {
      throw new ProblemException(refusal(status, body));
    }
    throw new IllegalStateException("answered " + status);
  }

  private static Problem refusal(int status, JsonNode body) {
    return new Problem(
        ProblemCode.of(status, text(body, "code", WORD)),
        text(body, "detail", SENTENCE),
        text(body, "field", MEMBER),
        text(body, "orderStatus", WORD),
        text(body, "saleState", WORD));
  }

  /** Text from another service is passed on to callers only when it matches the pattern. */
  private static @Nullable String text(JsonNode body, String name, Pattern accepted) {
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
      throw ProblemException.of(ProblemCode.DATABASE_UNAVAILABLE, Requester.OPERATOR.unavailable);
    }
  }
}
