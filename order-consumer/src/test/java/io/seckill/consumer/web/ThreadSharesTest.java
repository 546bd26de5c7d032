package io.seckill.consumer.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.web.ThreadShares.RequestKind;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.tomcat.autoconfigure.TomcatServerProperties;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class ThreadSharesTest {

  private static final int THREADS = 36;

  private final ThreadShares filter = new ThreadShares(threads(THREADS));

  private static TomcatServerProperties threads(int max) {
    TomcatServerProperties settings = new TomcatServerProperties();
    settings.getThreads().setMax(max);
    return settings;
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /internal/v1/orders/4711/payment, PAYMENTS",
    "POST, /internal/v1/orders/4711/cancel, CANCELS",
    "POST, /internal/v1/orders/payments, PAYMENTS",
    "GET, /internal/v1/orders/4711, OTHERS",
    "POST, /internal/v1/purchases, PURCHASES",
    "POST, /internal/v1/wallet/operations, WALLETS",
    "GET, /internal/v1/wallets/7, WALLET_READS",
    "GET, /internal/v1/wallets/7/entries, WALLET_READS",
    "GET, /internal/v1/wallets/7/statement, WALLET_READS",
    "POST, /internal/v1/wallets/7/adjustments, OTHERS",
    "PUT, /internal/v1/wallets/7/state, OTHERS",
    "POST, /internal/v1/payments/callback, CALLBACKS",
    "PUT, /internal/v1/gateways/0123456789abcdef0123456789abcdef, HEARTBEATS_AND_PROBES",
    "POST, /internal/v1/gateways/0123456789abcdef0123456789abcdef/handover, HEARTBEATS_AND_PROBES",
    "GET, /actuator/health/liveness, HEARTBEATS_AND_PROBES",
    "GET, /actuator/prometheus, METRICS",
    "PUT, /internal/v1/skus/1001, LONG_OPERATIONS",
    "POST, /internal/v1/skus/1001/preheat, LONG_OPERATIONS",
    "POST, /internal/v1/skus/1001/reconciliation, LONG_OPERATIONS",
    "POST, /internal/v1/skus/1001/audit, LONG_OPERATIONS",
    "POST, /internal/v1/skus/1001/archive, LONG_OPERATIONS",
    "POST, /internal/v1/wallet/check, LONG_OPERATIONS",
    "GET, /internal/v1/skus/1001, OTHERS",
    "GET, /internal/v1/skus/1001/reconciliation, OTHERS",
    "GET, /internal/v1/wallet/check, OTHERS",
    "POST, /internal/v1/skus/1001/state, OTHERS",
    "POST, /internal/v1/skus/1001/lost-admissions, OTHERS",
    "POST, /internal/v1/fallback/enter, OTHERS",
    "POST, /internal/v1/gateways/x/../../orders/1/payment, OTHERS",
    "POST, /internal/v1/%6frders/4711/payment, OTHERS",
    "GET, /, OTHERS"
  })
  void everyRequestIsOfOneKind(String method, String path, RequestKind kind) {
    assertThat(RequestKind.of(method, path)).isEqualTo(kind);
  }

  @ParameterizedTest
  @EnumSource
  void noKindTakesTheThreadsOfTheOthers(RequestKind kind) throws Exception {
    int taken =
        whileAllWait(
            kind,
            () -> {
              MockHttpServletResponse refused = send(kind);
              assertThat(refused.getStatus()).isEqualTo(503);
              assertThat(refused.getHeader("Retry-After")).isEqualTo("1");
              assertThat(refused.getContentAsString()).contains("\"code\":\"BUSY\"");
              for (RequestKind other : EnumSet.complementOf(EnumSet.of(kind))) {
                assertThat(send(other).getStatus()).as("%s", other).isEqualTo(200);
              }
            });

    assertThat(send(kind).getStatus()).as("afterwards").isEqualTo(200);
    assertThat(taken).isBetween(1, THREADS / 2);
  }

  @Test
  void allKindsTogetherHaveNoMoreThanAllThreads() throws Exception {
    int all = 0;
    for (RequestKind kind : RequestKind.values()) {
      all += whileAllWait(kind, () -> {});
    }

    assertThat(all).isEqualTo(THREADS);
  }

  private interface Check {
    void run() throws ServletException, IOException;
  }

  /** Returns the number of requests that are served at the same time, each within another. */
  private int whileAllWait(RequestKind kind, Check check) throws ServletException, IOException {
    int[] served = {0};
    MockHttpServletResponse response = new MockHttpServletResponse();
    filter.doFilter(
        request(kind),
        response,
        (request, reply) -> {
          served[0] += 1 + whileAllWait(kind, check);
        });
    if (response.getStatus() == 503) {
      check.run();
    }
    return served[0];
  }

  private MockHttpServletResponse send(RequestKind kind) throws ServletException, IOException {
    MockHttpServletResponse response = new MockHttpServletResponse();
    filter.doFilter(request(kind), response, (request, reply) -> {});
    return response;
  }

  private static MockHttpServletRequest request(RequestKind kind) {
    MockHttpServletRequest request = new MockHttpServletRequest("POST", path(kind));
    if (kind == RequestKind.CALLBACKS) { // from their bodies' arrival
      request.setDispatcherType(DispatcherType.ASYNC);
    }
    return request;
  }

  private static String path(RequestKind kind) {
    return switch (kind) {
      case PAYMENTS -> "/internal/v1/orders/4711/payment";
      case CANCELS -> "/internal/v1/orders/4711/cancel";
      case LONG_OPERATIONS -> "/internal/v1/skus/1001/audit";
      case PURCHASES -> "/internal/v1/purchases";
      case WALLETS -> "/internal/v1/wallet/operations";
      case WALLET_READS -> "/internal/v1/wallets/7/statement";
      case CALLBACKS -> "/internal/v1/payments/callback";
      case METRICS -> "/actuator/prometheus";
      case HEARTBEATS_AND_PROBES -> "/actuator/health/liveness";
      case OTHERS -> "/internal/v1/fallback/enter";
    };
  }
}
