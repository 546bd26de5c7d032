package io.seckill.consumer.web;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;
import org.springframework.boot.tomcat.autoconfigure.TomcatServerProperties;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Bounds the requests of each kind that are served at the same time, so that those that wait leave
 * threads to the others: payments wait for the provider, purchases and operators' calls for MySQL.
 * A request above the bound is 503 BUSY at once, and has had no effect.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 3) // after the token was checked, and a callback received
class ThreadShares extends OncePerRequestFilter {

  private static final int ALL_SHARES = 36;

  private final Map<RequestKind, Semaphore> free = new EnumMap<>(RequestKind.class);

  ThreadShares(TomcatServerProperties server) {
    int threads = server.getThreads().getMax();
    for (RequestKind kind : RequestKind.values()) {
      free.put(kind, new Semaphore(Math.max(1, threads * kind.shares / ALL_SHARES)));
    }
  }

  /**
   * The kinds, with the 36ths of all threads that they may take. A gateway has at most 34
   * connections for payments, 8 for cancels, 8 for purchases and 2 for heartbeats: the threads for
   * the last two, of 576, are as many as the connections of twelve gateways.
   */
  enum RequestKind {
    PURCHASES("/internal/v1/purchases", 6),
    /** They wait for no provider. */
    CANCELS("/internal/v1/orders/[^/]+/cancel", 1),
    PAYMENTS("/internal/v1/orders/(payments|[^/]+/payment)", 4),
    /** One operation a call, or few, from each of 256 connections: they wait for one COMMIT. */
    WALLETS("/internal/v1/wallet/operations", 16),
    /** Of shoppers, through 8 connections of each gateway; an operator's are among them. */
    WALLET_READS("/internal/v1/wallets/[^/]+(/entries|/statement)?", 2),
    /** Their bodies have arrived before. */
    CALLBACKS("/internal/v1/payments/callback", 1),
    /** Their readers need no token, and may be slow. */
    METRICS("/actuator/prometheus", 1),
    HEARTBEATS_AND_PROBES("/internal/v1/gateways/[0-9a-f]{32}(/handover)?|/actuator/.*", 2),
    /** Operators' writes, not reads of these paths: they may take minutes. */
    LONG_OPERATIONS(
        "/internal/v1/skus/[^/]+(/(preheat|reconciliation|audit|archive))?"
            + "|/internal/v1/wallet/check",
        1),
    /** Operators' other calls, and what gateways read and report. */
    OTHERS(".*", 2);

    private final Pattern paths;
    private final int shares;

    RequestKind(String paths, int shares) {
      this.paths = Pattern.compile(paths);
      this.shares = shares;
    }

    /** By the path as sent: another spelling of it counts as {@link #OTHERS}. */
    static RequestKind of(String method, String path) {
      for (RequestKind kind : values()) {
        boolean isOfKind = kind != LONG_OPERATIONS || !method.equals("GET");
        if (isOfKind && kind.paths.matcher(path).matches()) {
          return kind;
        }
      }
      throw new IllegalStateException("not reached: the last kind has every path");
    }
  }

  /** Callbacks come from their bodies' arrival. */
  @Override
  protected boolean shouldNotFilterAsyncDispatch() {
    return false;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    RequestKind kind = RequestKind.of(request.getMethod(), request.getRequestURI());
    Semaphore places = Objects.requireNonNull(free.get(kind));
    if (!places.tryAcquire()) {
      RefusedRequest.write(response, Problem.of(ProblemCode.BUSY));
      return;
    }
    try {
      chain.doFilter(request, response);
    } finally {
      places.release();
    }
  }
}
