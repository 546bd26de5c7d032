package io.seckill.gateway.backends;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.seckill.common.order.OrderId;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.Heartbeat;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.PromiseTransfer;
import io.seckill.support.contract.StrongPurchases;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import io.seckill.support.web.InternalToken;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Calls of one kind that are not answered keep no call of another kind from order-consumer. */
class ConsumerClientTest {

  private static final int PAYMENT_CONNECTIONS = 32;
  private static final int LONG_CONNECTIONS = 8;
  private static final int LOSS_CONNECTIONS = 4;
  private static final Duration SOON = Duration.ofSeconds(50);
  private static final OrderId ORDER = new OrderId(1);
  private static final StrongPurchases PURCHASES =
      new StrongPurchases(List.of(new StrongPurchase(1, 1, "key-00000001", 1, null)));
  private static final OrderPayments PAYMENTS =
      new OrderPayments(List.of(new OrderPayment(ORDER, 1)));
  private static final Heartbeat HEARTBEAT =
      new Heartbeat("gateway", FallbackMode.OFF, 0, RedisView.USABLE, 0, BreakerState.CLOSED, 0, 0);

  /** To every call. */
  private static final String ANSWER =
      """
      {"orderId":"1","userId":1,"skuId":1,"quantity":1,"unitPriceCents":1,"requestId":"key",
       "status":"PAID","reason":null,"admittedAt":"2026-01-01T00:00:00Z",
       "createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z",
       "term":1,"failurePercent":50,"failuresPerSecond":100,"outcomes":[],
       "name":"Phone","priceCents":1,"stock":1,"initialStock":1,"policy":"UNLIMITED",
       "limitPerUser":0,"decides":"REDIS","fallback":"NO","opensAt":"2026-01-01T00:00:00Z",
       "closesAt":"2036-01-01T00:00:00Z","state":"PAUSED","stateVersion":1,"epoch":1,"lastSeq":0,
       "settled":0,"shards":1,"version":1}
      """;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private final ReactorResourceFactory resources = new ReactorResourceFactory();
  private volatile String heldPath = "none";
  private volatile CountDownLatch held = new CountDownLatch(0);
  private HttpServer server;
  private ConsumerClient client;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
    resources.start();
    client = client(Duration.ofSeconds(60));
  }

  private ConsumerClient client(Duration timeout) {
    URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    return new ConsumerClient(
        new ConsumerProperties(url, timeout), new InternalToken("0123456789abcdef"), resources);
  }

  @AfterEach
  void stop() {
    end.countDown();
    client.destroy();
    server.stop(0);
    threads.shutdownNow();
  }

  /** Calls that must not wait behind payments, whose provider is slow, or behind long calls. */
  private enum Call {
    CANCEL,
    PROBE,
    STOP,
    FORWARD,
    LEDGER,
    FALLBACK,
    LOSS,
    DECIDE,
    PAY_TOGETHER,
    HEARTBEAT
  }

  @ParameterizedTest
  @EnumSource
  void answersWhilePaymentsHoldAllTheirConnections(Call call) throws InterruptedException {
    List<Disposable> payments =
        hold("/payment", PAYMENT_CONNECTIONS, () -> client.onOrder(ORDER, "payment", 1));
    try {
      assertThat(succeeds(call)).isTrue();
    } finally {
      payments.forEach(Disposable::dispose);
    }
  }

  /** Each may take five minutes. */
  @ParameterizedTest
  @EnumSource
  void answersWhileLongCallsHoldAllTheirConnections(Call call) throws InterruptedException {
    List<Disposable> audits = hold("/audit", LONG_CONNECTIONS, () -> audit(client, true));
    try {
      assertThat(succeeds(call)).isTrue();
    } finally {
      audits.forEach(Disposable::dispose);
    }
  }

  /** Another call, which begins later, is given up first. */
  @Test
  void waitsLongerForALongCallThanForOthers() {
    ConsumerClient hasty = client(Duration.ofMillis(500));
    held = new CountDownLatch(1);
    heldPath = "/audit";
    CompletableFuture<ConsumerAnswer> longCall = audit(hasty, true).toFuture();
    Bounded.await(held);
    assertThatThrownBy(() -> audit(hasty, false).block(SOON))
        .isInstanceOfSatisfying(
            ProblemException.class,
            failure ->
                assertThat(failure.problem().code()).isEqualTo(ProblemCode.DATABASE_UNAVAILABLE));

    end.countDown();

    assertThat(Bounded.get(longCall)).isNotNull();
    hasty.destroy();
  }

  private static Mono<ConsumerAnswer> audit(ConsumerClient client, boolean isLong) {
    return client.forward(HttpMethod.POST, "/skus/1/audit", null, Map.of(), isLong);
  }

  @Test
  void answersShoppersAndOperatorsWhileReportsOfLossesAreNotAnswered() throws InterruptedException {
    List<Disposable> reports =
        hold("/lost-admissions", LOSS_CONNECTIONS, () -> client.reportLostAdmissions(1, 1, 1));
    try {
      assertThat(succeeds(Call.PROBE)).isTrue();
      assertThat(client.onOrder(ORDER, "cancel", 1).block(SOON)).isNotNull();
    } finally {
      reports.forEach(Disposable::dispose);
    }
  }

  @Test
  void registersTransfersAndDeregistersAtOneAddress() {
    eventually() // on a busy machine a heartbeat may take more than its second
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              requests.clear();
              assertThat(client.heartbeat(HEARTBEAT).term()).isEqualTo(1);
              client.transfer(new PromiseTransfer(1, List.of(), List.of(), List.of(), true, true));
              client.deregister();

              String gateway = requests.get(0).replace("PUT ", "");
              assertThat(gateway).matches("/internal/v1/gateways/[0-9a-f]{32}");
              assertThat(requests)
                  .containsExactly(
                      "PUT " + gateway, "POST " + gateway + "/handover", "DELETE " + gateway);
            });
  }

  private List<Disposable> hold(String path, int connections, Supplier<Mono<?>> call)
      throws InterruptedException {
    held = new CountDownLatch(connections);
    heldPath = path;
    List<Disposable> calls =
        Stream.generate(() -> call.get().subscribe(done -> {}, failed -> {}))
            .limit(2L * connections)
            .toList();
    assertThat(held.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return calls;
  }

  private boolean succeeds(Call call) {
    return switch (call) {
      case CANCEL -> client.onOrder(ORDER, "cancel", 1).block(SOON) != null;
      case STOP -> client.changeState(1, SaleState.PAUSED, "operator").block(SOON) != null;
      case PROBE -> Boolean.TRUE.equals(client.isReady().block(SOON));
      case FORWARD ->
          client.forward(HttpMethod.POST, "/fallback/enter", null, Map.of(), false).block(SOON)
              != null;
      case LEDGER -> client.ledger(1).block(SOON) != null;
      case FALLBACK -> client.fallback().block(SOON) != null;
      case LOSS -> client.reportLostAdmissions(1, 1, 1).block(SOON) != null;
      case DECIDE -> client.decide(PURCHASES, SOON).outcomes().isEmpty();
      case PAY_TOGETHER -> client.pay(PAYMENTS).isEmpty();
      case HEARTBEAT -> {
        eventually() // on a busy machine one may take more than its second
            .ignoreExceptions()
            .until(() -> client.heartbeat(HEARTBEAT).term() == 1);
        yield true;
      }
    };
  }

  private void answer(HttpExchange exchange) throws IOException {
    requests.add(exchange.getRequestMethod() + ' ' + exchange.getRequestURI());
    if (exchange.getRequestURI().getPath().endsWith(heldPath)) {
      held.countDown();
      Bounded.await(end);
    }
    try (exchange) {
      byte[] body = ANSWER.getBytes(StandardCharsets.UTF_8);
      exchange.getRequestBody().readAllBytes();
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
    }
  }
}
