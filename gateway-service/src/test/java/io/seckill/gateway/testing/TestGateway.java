package io.seckill.gateway.testing;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.GatewayApplication;
import io.seckill.testing.Eventually;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RedisDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole gateway in this JVM, on two free ports, with an HTTP client for it. */
public final class TestGateway implements AutoCloseable {

  /** Address of an order-consumer that does not run. */
  public static final String NO_CONSUMER = "http://127.0.0.1:1";

  private final ConfigurableApplicationContext context;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Eventually.SOON)
          .build();

  /** The times that the gateway is shipped with, for tests in which Redis does not answer. */
  public static String[] shippedTimes() {
    return new String[] {
      "seckill.redis.socket-timeout=250ms", "seckill.admission.answer-within=270ms"
    };
  }

  private TestGateway(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /**
   * Starts a gateway that waits 10 s for Redis, so that no 503 comes from a slow machine.
   *
   * @param properties {@code name=value}; they override the defaults
   */
  public static TestGateway start(
      RedisDatabase redis, MySqlDatabase mysql, String consumerUrl, String... properties) {
    return start(redis.url(), mysql, consumerUrl, properties);
  }

  /** As {@link #start(RedisDatabase, MySqlDatabase, String, String...)}. */
  public static TestGateway start(
      String redisUrl, MySqlDatabase mysql, String consumerUrl, String... properties) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "server.port=0",
                "seckill.admin.port=0",
                "seckill.redis.url=" + redisUrl,
                "seckill.redis.socket-timeout=10s",
                "seckill.admission.answer-within=10s",
                "spring.datasource.hikari.connection-timeout=3000",
                "spring.datasource.url=" + mysql.jdbcUrl(),
                "spring.datasource.username=" + mysql.username(),
                "spring.datasource.password=" + mysql.password(),
                "seckill.security.hs256-secret=" + TestTokens.SECRET,
                "seckill.consumer.url=" + consumerUrl,
                "seckill.internal.token=" + ConsumerProcess.TOKEN,
                "seckill.limits.user-per-second=0")); // one user may send all requests
    for (String property : properties) {
      String name = property.substring(0, property.indexOf('=') + 1);
      all.removeIf(earlier -> earlier.startsWith(name));
      all.add(property);
    }
    return new TestGateway(
        new SpringApplicationBuilder(GatewayApplication.class)
            .registerShutdownHook(false)
            .run(all.stream().map(property -> "--" + property).toArray(String[]::new)));
  }

  public int shopPort() {
    return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
  }

  public int adminPort() {
    return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.admin.port"));
  }

  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  public <T> T bean(String name, Class<T> type) {
    return context.getBean(name, type);
  }

  /** Returns the gauge of this name and these tags, given as names and values in turn. */
  public double gauge(String name, String... tags) {
    return bean(MeterRegistry.class).get(name).tags(tags).gauge().value();
  }

  /** As {@link #gauge}, of a counter. */
  public double counter(String name, String... tags) {
    return bean(MeterRegistry.class).get(name).tags(tags).counter().count();
  }

  /** A request on the shopper port. */
  public HttpRequest.Builder shop(String path) {
    return request(shopPort(), path);
  }

  /** A request on the admin port. */
  public HttpRequest.Builder admin(String path) {
    return request(adminPort(), path);
  }

  /** GET by a shopper. */
  public GatewayAnswer get(long user, String path) {
    return send(shop(path).header("Authorization", shopper(user)).GET());
  }

  /** A request of any method, with or without a body, by a shopper. */
  public GatewayAnswer call(long user, String method, String path, @Nullable String body) {
    return send(json(shop(path), method, body).header("Authorization", shopper(user)));
  }

  /** A request for a purchase, without its body. */
  public HttpRequest.Builder purchase(long user, long sku) {
    return shop("/api/v1/skus/" + sku + "/orders").header("Authorization", shopper(user));
  }

  /** A purchase. */
  public GatewayAnswer buy(long user, long sku, int quantity, String key) {
    return send(purchase(user, sku, quantity, key));
  }

  /** As {@link #buy}, without waiting for the answer. */
  public CompletableFuture<GatewayAnswer> buyAsync(long user, long sku, int quantity, String key) {
    return http.sendAsync(purchase(user, sku, quantity, key).build(), BodyHandlers.ofString())
        .thenApply(GatewayAnswer::new);
  }

  private HttpRequest.Builder purchase(long user, long sku, int quantity, String key) {
    return json(purchase(user, sku), "POST", "{\"quantity\":" + quantity + "}")
        .header("Idempotency-Key", key);
  }

  /** GET by an operator. */
  public GatewayAnswer adminGet(String path) {
    return send(admin(path).header("Authorization", operator()).GET());
  }

  /** A request of any method, with or without a JSON body, by an operator. */
  public GatewayAnswer operate(String method, String path, @Nullable String body) {
    return send(json(admin(path), method, body).header("Authorization", operator()));
  }

  /** Creates, preheats and opens a sale; Redis may have just come back. */
  public void putOnSale(long sku, String product) {
    String path = GatewayStage.admin(sku);
    operate("PUT", path, product).expect(201);
    GatewayAnswer.available(() -> operate("POST", path + "/preheat", null)).expect(200);
    GatewayAnswer.available(() -> operate("POST", path + "/open", null)).expect(200);
  }

  public GatewayAnswer post(HttpRequest.Builder request, String body) {
    return send(request.POST(BodyPublishers.ofString(body)));
  }

  public GatewayAnswer send(HttpRequest.Builder request) {
    try {
      return new GatewayAnswer(http.send(request.build(), BodyHandlers.ofString()));
    } catch (IOException e) {
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  public HttpClient http() {
    return http;
  }

  public static String shopper(long user) {
    return "Bearer " + TestTokens.shopper(user);
  }

  public static String operator() {
    return "Bearer " + TestTokens.operator("olga");
  }

  private static HttpRequest.Builder json(
      HttpRequest.Builder request, String method, @Nullable String body) {
    return body == null
        ? request.method(method, BodyPublishers.noBody())
        : request
            .method(method, BodyPublishers.ofString(body))
            .header("Content-Type", "application/json");
  }

  private static HttpRequest.Builder request(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(Duration.ofMinutes(1));
  }

  @Override
  public void close() {
    context.close();
  }
}
