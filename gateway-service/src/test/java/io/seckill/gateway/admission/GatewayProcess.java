package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.GatewayApplication;
import io.seckill.gateway.testing.TestTokens;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole gateway inside the test's JVM, on ports of its own, against real stores. */
final class GatewayProcess implements AutoCloseable {

  static final String KEY = "Idempotency-Key";

  private final ConfigurableApplicationContext context;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1) // no Upgrade header with each request
          .connectTimeout(Duration.ofSeconds(2))
          .build();

  private GatewayProcess(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /**
   * Starts a gateway and waits until it admits purchases.
   *
   * @param properties {@code name=value}; they override the defaults
   */
  static GatewayProcess start(String redisUrl, SeededDatabase database, String... properties) {
    GatewayProcess gateway = startHeld(redisUrl, database, properties);
    eventually().until(() -> gateway.bean(VerifiedServers.class).allVerified());
    return gateway;
  }

  /** Starts a gateway; it may not admit yet, because Redis is not verified. */
  static GatewayProcess startHeld(String redisUrl, SeededDatabase database, String... properties) {
    return startAt(redisUrl, database.url(), database.username(), database.password(), properties);
  }

  static GatewayProcess startAt(
      String redisUrl, String jdbcUrl, String user, String password, String... properties) {
    List<String> all = new ArrayList<>();
    all.add("server.port=0");
    all.add("seckill.admin.port=0");
    all.add("seckill.redis.url=" + redisUrl);
    all.add("spring.datasource.url=" + jdbcUrl);
    all.add("spring.datasource.username=" + user);
    all.add("spring.datasource.password=" + password);
    all.add("seckill.security.hs256-secret=" + TestTokens.SECRET);
    all.add("seckill.internal.token=0123456789abcdef0123456789abcdef");
    all.add("seckill.limits.user-per-second=0"); // one user may send all requests
    for (String property : properties) {
      String name = property.substring(0, property.indexOf('=') + 1);
      all.removeIf(earlier -> earlier.startsWith(name));
      all.add(property);
    }
    return new GatewayProcess(
        new SpringApplicationBuilder(GatewayApplication.class)
            .registerShutdownHook(false)
            .run(all.stream().map(property -> "--" + property).toArray(String[]::new)));
  }

  int port() {
    return ((WebServerApplicationContext) context).getWebServer().getPort();
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** Returns the gauge of this name and these tags, given as names and values in turn. */
  double gauge(String name, String... tags) {
    return bean(MeterRegistry.class).get(name).tags(tags).gauge().value();
  }

  /** As {@link #gauge}, of a counter. */
  double counter(String name, String... tags) {
    return bean(MeterRegistry.class).get(name).tags(tags).counter().count();
  }

  /** Sends a purchase as a shopper does. */
  HttpResponse<String> buy(long sku, long user, String key, int quantity) {
    return send(request(sku, user).header(KEY, key), "{\"quantity\":" + quantity + "}");
  }

  HttpRequest.Builder request(long sku, long user) {
    return request("/api/v1/skus/" + sku + "/orders")
        .header("Authorization", "Bearer " + TestTokens.shopper(user));
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
        .timeout(Duration.ofSeconds(10));
  }

  HttpResponse<String> send(HttpRequest.Builder request, String body) {
    return send(request.POST(BodyPublishers.ofString(body)).build());
  }

  CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest.Builder request, String body) {
    return http.sendAsync(
        request.POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
  }

  HttpResponse<String> send(HttpRequest request) {
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** The status, or 0 when the gateway ended the connection while the body was still being sent. */
  int statusOfHugeBody(HttpRequest request) {
    try {
      return http.send(request, BodyHandlers.ofString()).statusCode();
    } catch (IOException e) {
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
