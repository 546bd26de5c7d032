package io.seckill.gateway.backends;

import io.seckill.common.order.OrderId;
import io.seckill.common.sale.SaleState;
import io.seckill.gateway.backends.ConsumerLink.Request;
import io.seckill.support.contract.Heartbeat;
import io.seckill.support.contract.Heartbeat.HeartbeatAnswer;
import io.seckill.support.contract.LostAdmissions;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderPayments.PaymentOutcomes;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.contract.PromiseTransfer;
import io.seckill.support.contract.Shopper;
import io.seckill.support.contract.StateRequest;
import io.seckill.support.contract.StrongPurchases;
import io.seckill.support.contract.StrongPurchases.Decisions;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
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
import tools.jackson.databind.JsonNode;

/**
 * Calls order-consumer's internal port. Its refusals (4xx, BUSY) are problems with its codes; every
 * other failure becomes 503 DATABASE_UNAVAILABLE: the outcome of a write is then unknown, and the
 * same call may be repeated. Only {@link #decide}, {@link #pay}, {@link #heartbeat}, {@link
 * #transfer} and {@link #deregister} block.
 */
@Component
public final class ConsumerClient implements DisposableBean {

  private static final String PREFIX = "/internal/v1";

  /** The kinds of calls, each with connections of its own. */
  private enum CallKind {
    /** Payments sent alone; the provider may keep them all waiting. */
    PAYMENTS(32),
    /** A list of payments at a time, and one whose time is up. */
    PAYMENT_LISTS(2),
    /** Each is one short transaction. */
    CANCELS(8),
    /** Reads of wallets, which payments must not wait for. */
    WALLETS(8),
    /** Operators' short calls, and probes. */
    OPERATORS(16),
    /** More than order-consumer does at once. */
    LONG_OPERATIONS(8),
    /** Of each SKU one report at a time is under way; each is one short transaction. */
    LOSSES(4),
    /** As many batches of purchases as a gateway has at once, and those whose time is up. */
    PURCHASES(8),
    /** One for heartbeats, one for a transfer: no other call may delay them. */
    HEARTBEATS(2);

    private final int maxConnections;

    CallKind(int maxConnections) {
      this.maxConnections = maxConnections;
    }
  }

  /**
   * For a preheat or an edit, which write all of a sale's data to Redis, and for a reconciliation,
   * which waits for orders in flight to settle.
   */
  private static final Duration LONG_TIMEOUT = Duration.ofMinutes(5);

  private static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(1);

  /** This process among all gateways. */
  private final String gateway = "/gateways/" + UUID.randomUUID().toString().replace("-", "");

  private final Map<CallKind, ConsumerLink> links = new EnumMap<>(CallKind.class);
  private final Duration timeout;

  ConsumerClient(
      ConsumerProperties settings, InternalToken internal, ReactorResourceFactory resources) {
    this.timeout = settings.timeout();
    for (CallKind kind : CallKind.values()) {
      String name = kind.name().toLowerCase(Locale.ROOT);
      links.put(kind, new ConsumerLink(name, kind.maxConnections, settings, internal, resources));
    }
  }

  private ConsumerLink to(CallKind kind) {
    return Objects.requireNonNull(links.get(kind));
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
    return to(isLong ? CallKind.LONG_OPERATIONS : CallKind.OPERATORS)
        .exchange(
            new Request(method, PREFIX + pathAndQuery, body, headers, within, Requester.OPERATOR),
            ConsumerAnswer::checked);
  }

  /** The conservation equation of a SKU, read at most half a second ago. */
  public Mono<JsonNode> ledger(long skuId) {
    return read("/skus/" + skuId + "/ledger");
  }

  /** The store that decides the sales of Redis, and each gateway's view of Redis. */
  public Mono<JsonNode> fallback() {
    return read("/fallback");
  }

  /** The counters of the order-consumer that answers, since its start. */
  public Mono<JsonNode> metrics() {
    return read("/metrics/summary");
  }

  /** The work that order-consumer has postponed. */
  public Mono<JsonNode> pendingWork() {
    return read("/pending-work");
  }

  private Mono<JsonNode> read(String path) {
    return to(CallKind.OPERATORS)
        .exchange(
            new Request(HttpMethod.GET, PREFIX + path, null, Map.of(), timeout, Requester.GATEWAY),
            ConsumerAnswer::body);
  }

  /** Changes the sale's state; 409 when the transition is not legal. */
  public Mono<ProductRow> changeState(long skuId, SaleState state, String operator) {
    return to(CallKind.OPERATORS)
        .exchange(
            new Request(
                HttpMethod.POST,
                PREFIX + "/skus/" + skuId + "/state",
                json(new StateRequest(state.name())),
                Map.of(Operator.HEADER, operator),
                timeout,
                Requester.OPERATOR),
            answer -> answer.as(ProductRow.class));
  }

  /** Performs an action of the owner on an order: {@code payment} or {@code cancel}. */
  public Mono<OrderRow> onOrder(OrderId order, String action, long userId) {
    return to(action.equals("cancel") ? CallKind.CANCELS : CallKind.PAYMENTS)
        .exchange(
            request(
                HttpMethod.POST, "/orders/" + order + '/' + action, new Shopper(userId), timeout),
            answer -> answer.as(OrderRow.class));
  }

  /**
   * Pays for orders that need no call of their own. Blocks.
   *
   * @return an outcome for each
   * @throws RuntimeException when there is no answer, or none with outcomes; the orders may have
   *     been paid
   */
  public List<PaymentOutcome> pay(OrderPayments payments) {
    return ask(
            CallKind.PAYMENT_LISTS, request(HttpMethod.POST, "/orders/payments", payments, timeout))
        .as(PaymentOutcomes.class)
        .outcomes();
  }

  /** The problem of a caller whose call got no answer. */
  public static ProblemException unavailable() {
    return Requester.GATEWAY.unavailable();
  }

  /**
   * Reads a shopper's wallet.
   *
   * @param pathAndQuery below the wallet's own path, encoded; empty for the balance
   */
  public Mono<JsonNode> wallet(long userId, String pathAndQuery) {
    return to(CallKind.WALLETS)
        .exchange(
            request(HttpMethod.GET, "/wallets/" + userId + pathAndQuery, null, timeout),
            ConsumerAnswer::body);
  }

  /**
   * Reports that a Redis server has taken over that lacks some of a SKU's admissions; {@code seq}
   * is the highest number before the takeover.
   */
  public Mono<?> reportLostAdmissions(long skuId, long epoch, long seq) {
    LostAdmissions lost = new LostAdmissions(epoch, seq);
    return to(CallKind.LOSSES)
        .exchange(
            request(HttpMethod.POST, "/skus/" + skuId + "/lost-admissions", lost, timeout),
            ConsumerAnswer::body);
  }

  /**
   * Lets order-consumer decide purchases of strong sales. Uses connections of its own, so that no
   * other call waits behind purchases. Blocks.
   *
   * @param within longest wait for the answer; {@code seckill.consumer.timeout} if that is shorter
   * @throws RuntimeException when there is no answer, or none with decisions; the purchases may
   *     have been decided
   */
  public Decisions decide(StrongPurchases batch, Duration within) {
    Duration shorter = within.compareTo(timeout) < 0 ? within : timeout;
    return ask(CallKind.PURCHASES, request(HttpMethod.POST, "/purchases", batch, shorter))
        .as(Decisions.class);
  }

  /**
   * Reports this gateway's view of Redis. Blocks.
   *
   * @throws RuntimeException when there is no answer within a second
   */
  public HeartbeatAnswer heartbeat(Heartbeat body) {
    return ask(CallKind.HEARTBEATS, request(HttpMethod.PUT, gateway, body, HEARTBEAT_TIMEOUT))
        .as(HeartbeatAnswer.class);
  }

  /**
   * Hands over orders that Redis admitted for this gateway. Blocks.
   *
   * @throws RuntimeException when it is not known whether they are stored; repeat it
   */
  public void transfer(PromiseTransfer part) {
    var unused =
        ask(CallKind.HEARTBEATS, request(HttpMethod.POST, gateway + "/handover", part, timeout))
            .checked();
  }

  /**
   * Ends the registration that heartbeats make. Blocks.
   *
   * @throws RuntimeException when it is not known whether it has ended
   */
  public void deregister() {
    var unused =
        ask(CallKind.HEARTBEATS, request(HttpMethod.DELETE, gateway, null, HEARTBEAT_TIMEOUT))
            .checked();
  }

  private ConsumerAnswer ask(CallKind kind, Request request) {
    return Objects.requireNonNull(to(kind).send(request).block());
  }

  private static Request request(
      HttpMethod method, String path, @Nullable Record body, Duration within) {
    return new Request(method, PREFIX + path, json(body), Map.of(), within, Requester.GATEWAY);
  }

  private static byte @Nullable [] json(@Nullable Record body) {
    return body == null ? null : StrictJson.MAPPER.writeValueAsBytes(body);
  }

  /** Whether order-consumer answers and reports itself ready. Never fails. */
  public Mono<Boolean> isReady() {
    return to(CallKind.OPERATORS).isReady();
  }

  @Override
  public void destroy() {
    Flux.fromIterable(links.values()).flatMap(ConsumerLink::close).then().block(timeout);
  }
}
