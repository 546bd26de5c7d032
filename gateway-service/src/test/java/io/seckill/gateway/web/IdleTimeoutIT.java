package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.handler.timeout.IdleStateHandler;
import io.seckill.testing.Bounded;
import io.seckill.testing.RawConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

class IdleTimeoutIT {

  private static final Duration IDLE = Duration.ofSeconds(8);

  @Test
  void endsAConnectionThatCarriesNothing() {
    DisposableServer server = server(Duration.ofMillis(200));
    try {
      assertThat(RawConnection.exchange(server.port(), "")).isEmpty();
    } finally {
      server.disposeNow();
    }
  }

  /** Read back from the kernel, so it also shows that connections are of the epoll transport. */
  @ParameterizedTest
  @MethodSource("portsAndTheirSilence")
  void limitsSilenceAndHowLongSentBytesStayUnacknowledged(HttpServer port, Duration silence)
      throws IOException {
    CompletableFuture<List<Long>> limitsMs = new CompletableFuture<>();
    DisposableServer server =
        port.host("127.0.0.1")
            .port(0)
            .doOnChannelInit((observer, channel, remote) -> limitsMs.complete(limitsMs(channel)))
            .bindNow();
    try (Socket caller = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      assertThat(Bounded.get(limitsMs))
          .as("%s", caller)
          .containsExactly(silence.toMillis(), (long) IdleTimeout.UNACKNOWLEDGED_MS);
    } finally {
      server.disposeNow();
    }
  }

  static Stream<Arguments> portsAndTheirSilence() {
    ReactorResourceFactory resources = new ReactorResourceFactory();
    resources.start();
    AdminPort admin =
        new AdminPort(
            new AdminPortProperties(0, "127.0.0.1"),
            (request, response) -> Mono.empty(),
            resources,
            new StandardEnvironment(),
            new ExchangeTurn(),
            new RefusedRequests(new SimpleMeterRegistry()),
            new ServerProperties());
    return Stream.of(
        Arguments.of(new IdleTimeout().apply(HttpServer.create()), Duration.ofSeconds(75)),
        Arguments.of(admin.unbound(), Duration.ofMinutes(6)));
  }

  private static List<Long> limitsMs(Channel channel) {
    return List.of(
        channel.pipeline().get(IdleStateHandler.class).getAllIdleTimeInMillis(),
        (long) channel.config().getOption(EpollChannelOption.TCP_USER_TIMEOUT));
  }

  @ParameterizedTest
  @ValueSource(strings = {"x86_64", "aarch_64"})
  void hasTheLibraryOfTheEpollTransport(String processor) {
    String library = "/META-INF/native/libnetty_transport_native_epoll_" + processor + ".so";
    assertThat(getClass().getResource(library)).isNotNull();
  }

  @Tag("proof")
  @Test
  void endsConnectionsThatCarryNothingAndNoOthers() {
    DisposableServer server = server(IDLE);
    try {
      CompletableFuture<String> ticking =
          CompletableFuture.supplyAsync(
              () ->
                  RawConnection.exchange(
                      server.port(),
                      "GET /ticks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
      CompletableFuture<String> silent =
          CompletableFuture.supplyAsync(() -> RawConnection.exchange(server.port(), ""));
      CompletableFuture<String> body =
          CompletableFuture.supplyAsync(
              () ->
                  RawConnection.exchange(
                      server.port(),
                      "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{\"quan"));

      assertThat(RawConnection.exchange(server.port(), "GET /ticks HTTP/1.1\r\nHo"))
          .as("incomplete head")
          .isEmpty();
      assertThat(Bounded.get(silent)).isEmpty();
      assertThat(Bounded.get(body)).as("incomplete body").isEmpty();
      assertThat(Bounded.get(ticking)).as("slower than the time-out").contains("tick 19");
    } finally {
      server.disposeNow();
    }
  }

  private static DisposableServer server(Duration idle) {
    return new IdleTimeout(idle)
        .apply(HttpServer.create())
        .port(0)
        .route(
            routes ->
                routes
                    .get("/ticks", (request, response) -> response.sendString(ticks()))
                    .post("/body", (request, response) -> request.receive().then()))
        .bindNow();
  }

  /** They last longer than {@link #IDLE}. */
  private static Flux<String> ticks() {
    return Flux.fromStream(IntStream.range(0, 20).mapToObj(i -> "tick " + i + "\n"))
        .concatMap(tick -> Mono.just(tick).delayElement(Duration.ofMillis(500)));
  }
}
