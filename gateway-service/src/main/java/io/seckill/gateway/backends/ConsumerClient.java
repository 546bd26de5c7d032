package io.seckill.gateway.backends;

import io.seckill.common.sale.SaleState;
import io.seckill.gateway.backends.ConsumerLink.Request;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProductRow;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/**
 * Calls order-consumer's internal port. Its refusals (4xx) are returned as problems with its codes;
 * every other failure becomes 503 DATABASE_UNAVAILABLE: the outcome of a write is then unknown, and
 * the same call may be repeated. Only {@link #decide}, {@link #heartbeat}, {@link #handOver} and
 * {@link #deregister} block.
 */
@Component
public final class ConsumerClient implements DisposableBean {

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String PREFIX = "/internal/v1";

  /** More than order-consumer has connections to MySQL, which are the narrower bound. */
  private static final int MAX_SHOPPER_CONNECTIONS = 32;

  /** For operators and probes, whom shoppers' payments and cancels must not delay. */
  private static final int MAX_OPERATOR_CONNECTIONS = 16;

  /** Of each SKU one report at a time is under way; each is one short transaction. */
  private static final int MAX_LOSS_CONNECTIONS = 4;

  /** As many batches of purchases as a gateway has at once, and those whose time is up. */
  private static final int MAX_PURCHASE_CONNECTIONS = 8;

  /** One for heartbeats, one for a transfer: no other call may delay them. */
  private static final int MAX_HEARTBEAT_CONNECTIONS = 2;

  /**
   * For a preheat or an edit, which write all of a sale's data to Redis, and for a reconciliation,
   * which waits for orders in flight to settle.
   */
  private static final Duration LONG_TIMEOUT = Duration.ofMinutes(5);

  private static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(1);

  /** This process among all gateways. */
  private final String gateway =
      PREFIX + "/gateways/" + UUID.randomUUID().toString().replace("-", "");

  private final ConsumerLink shoppers;
  private final ConsumerLink operators;
  private final ConsumerLink losses;
  private final ConsumerLink purchases;
  private final ConsumerLink heartbeats;
  private final Duration timeout;

  ConsumerClient(
      ConsumerProperties settings, InternalToken internal, ReactorResourceFactory resources) {
    this.timeout = settings.timeout();
    this.shoppers =
        new ConsumerLink("shoppers", MAX_SHOPPER_CONNECTIONS, settings, internal, resources);
    this.operators =
        new ConsumerLink("operators", MAX_OPERATOR_CONNECTIONS, settings, internal, resources);
    this.losses = new ConsumerLink("losses", MAX_LOSS_CONNECTIONS, settings, internal, resources);
    this.purchases =
        new ConsumerLink("purchases", MAX_PURCHASE_CONNECTIONS, settings, internal, resources);
    this.heartbeats =
        new ConsumerLink("heartbeats", MAX_HEARTBEAT_CONNECTIONS, settings, internal, resources);
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
    Duration within = isLong ? LONG_TIMEOUT : timeout;
    return operators.exchange(
        new Request(method, PREFIX + pathAndQuery, body, headers, within, Requester.OPERATOR));
  }

  /** The conservation equation of a SKU, read at most half a second ago. */
  public Mono<ConsumerAnswer> ledger(long skuId) {
    return read("/skus/" + skuId + "/ledger");
  }

  /** The store that decides the sales of Redis, and each gateway's view of Redis. */
  public Mono<ConsumerAnswer> fallback() {
    return read("/fallback");
  }

  /** The counters of the order-consumer that answers, since its start. */
  public Mono<ConsumerAnswer> metrics() {
    return read("/metrics/summary");
  }

  private Mono<ConsumerAnswer> read(String path) {
    return operators.exchange(
        new Request(HttpMethod.GET, PREFIX + path, null, Map.of(), timeout, Requester.GATEWAY));
  }

  /** Changes the sale's state; 409 when the transition is not legal. */
  public Mono<ProductRow> changeState(long skuId, SaleState state, String operator) {
    Map<String, String> headers = Map.of(Operator.HEADER, operator);
    return post(operators, "/skus/" + skuId + "/state", Map.of("state", state.name()), headers)
        .map(ConsumerAnswer::product);
  }

  /**
   * Performs an action of the owner on an order.
   *
   * @param action {@code payment} or {@code cancel}
   */
  public Mono<ConsumerAnswer> onOrder(String orderId, String action, long userId) {
    String path = "/orders/" + orderId + '/' + action;
    return post(shoppers, path, Map.of("userId", userId), Map.of());
  }

  /**
   * Reports that a Redis server has taken over that lacks some of a SKU's admissions.
   *
   * @param seq the highest admission sequence before the takeover
   */
  public Mono<ConsumerAnswer> reportLostAdmissions(long skuId, long epoch, long seq) {
    String path = "/skus/" + skuId + "/lost-admissions";
    return post(losses, path, Map.of("epoch", epoch, "seq", seq), Map.of());
  }

  private Mono<ConsumerAnswer> post(
      ConsumerLink link, String path, Map<String, ?> body, Map<String, String> headers) {
    return link.exchange(
        new Request(
            HttpMethod.POST, PREFIX + path, json(body), headers, timeout, Requester.GATEWAY));
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
    return ask(purchases, HttpMethod.POST, PREFIX + "/purchases", batch, shorter);
  }

  /**
   * Reports this gateway's view of Redis. Blocks.
   *
   * @return the term of the last fallback, and when breakers open
   * @throws RuntimeException when there is no answer within a second
   */
  public ConsumerAnswer heartbeat(Map<String, ?> body) {
    return ask(heartbeats, HttpMethod.PUT, gateway, body, HEARTBEAT_TIMEOUT);
  }

  /**
   * Hands over orders that Redis admitted for this gateway. Blocks.
   *
   * @throws RuntimeException when it is not known whether they are stored; repeat it
   */
  public void handOver(Map<String, ?> body) {
    var unused = ask(heartbeats, HttpMethod.POST, gateway + "/handover", body, timeout);
  }

  /**
   * Ends the registration that heartbeats make. Blocks.
   *
   * @throws RuntimeException when it is not known whether it has ended
   */
  public void deregister() {
    var unused = ask(heartbeats, HttpMethod.DELETE, gateway, Map.of(), HEARTBEAT_TIMEOUT);
  }

  private static ConsumerAnswer ask(
      ConsumerLink link, HttpMethod method, String path, Map<String, ?> body, Duration within) {
    Request request = new Request(method, path, json(body), Map.of(), within, Requester.GATEWAY);
    return Objects.requireNonNull(link.send(request).block());
  }

  private static byte[] json(Map<String, ?> body) {
    return JSON.writeValueAsBytes(body);
  }

  /** Whether order-consumer answers and reports itself ready. Never fails. */
  public Mono<Boolean> isReady() {
    return operators.isReady();
  }

  @Override
  public void destroy() {
    Flux.just(shoppers, operators, losses, purchases, heartbeats)
        .flatMap(ConsumerLink::close)
        .then()
        .block(timeout);
  }
}
