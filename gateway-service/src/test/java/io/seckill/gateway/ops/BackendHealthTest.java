package io.seckill.gateway.ops;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.backends.TestCalls;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import redis.clients.jedis.exceptions.JedisConnectionException;

class BackendHealthTest {

  private static final int CALLERS = 200;

  @AutoClose("destroy")
  private final BlockingCalls calls = TestCalls.oneThread();

  private final List<String> checks = new CopyOnWriteArrayList<>();
  private final CountDownLatch asked = new CountDownLatch(1);
  private HttpServer server;
  private ConsumerClient consumer;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CALLERS);
    server.createContext(
        "/",
        exchange -> {
          Bounded.await(asked);
          checks.add("consumer");
          try (exchange) {
            exchange.sendResponseHeaders(200, -1);
          }
        });
    server.start();
    ReactorResourceFactory resources = new ReactorResourceFactory();
    resources.start();
    consumer =
        TestCalls.consumer(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()), resources);
  }

  @AfterEach
  void stop() {
    asked.countDown();
    consumer.destroy();
    server.stop(0);
  }

  /** A gateway that is down gets no purchases from its load balancer. */
  @ParameterizedTest
  @CsvSource({"true, DEGRADED", "false, DOWN"})
  void isNotDownWithoutRedisWhileMySqlDecides(boolean inFallback, String status) {
    asked.countDown();

    assertThat(health(null, inFallback).redis().block(Eventually.SOON).status())
        .hasToString(status);
  }

  /** They need no token: a page in an operator's browser may ask as often as it likes. */
  @Test
  void callersAtTheSameTimeShareOneCheckOfEachServer() {
    BackendHealth health = health(JdbcClient.create(new NoMySql()), false);

    assertThat(askTogether(Mono.zip(health.redis(), health.mysql(), health.consumer()), asked))
        .hasSize(CALLERS)
        .allSatisfy(
            found -> {
              assertThat(found.getT1().status()).hasToString("DOWN");
              assertThat(found.getT2().status()).hasToString("DEGRADED");
              assertThat(found.getT3().status()).hasToString("UP");
            });
    assertThat(checks).containsExactlyInAnyOrder("PING", "mysql", "consumer");

    checks.clear();
    eventually()
        .until(
            () -> {
              Mono.when(health.redis(), health.mysql(), health.consumer()).block(Eventually.SOON);
              return checks.containsAll(List.of("PING", "mysql", "consumer"));
            });
  }

  /** Opens the latch that keeps each check from its end when all callers have asked. */
  static <T> List<T> askTogether(Mono<T> check, CountDownLatch asked) {
    CompletableFuture<List<T>> answers =
        Flux.range(0, CALLERS).flatMap(caller -> check, CALLERS).collectList().toFuture();
    asked.countDown();
    return Bounded.get(answers);
  }

  private BackendHealth health(@Nullable JdbcClient mysql, boolean inFallback) {
    CannedRedis away =
        new CannedRedis(
            command -> {
              Bounded.await(asked);
              checks.add(command.get(0));
              throw new JedisConnectionException("for the test");
            });
    return new BackendHealth(
        away,
        RedisBreakers.of(away, new SimpleMeterRegistry()),
        null,
        calls,
        mysql,
        calls,
        consumer,
        TestProducts.read(inFallback));
  }

  private final class NoMySql extends AbstractDataSource {

    @Override
    public Connection getConnection() throws SQLException {
      Bounded.await(asked);
      checks.add("mysql");
      throw new SQLException("for the test");
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return getConnection();
    }
  }
}
