package io.seckill.gateway.web;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpMethod;
import io.seckill.testing.Eventually;
import io.seckill.testing.RawConnection;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The handler in a server of its own, with a route whose answers the test completes. */
class DirectHandlerIT {

  private static final int LONGEST_BODY = 4_096;

  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
  private final OpenRequests open = new OpenRequests();
  private final TestRoute route = new TestRoute();
  private final CompletableFuture<String> slowAnswer = new CompletableFuture<>();
  private DisposableServer server;

  /**
   * The body says what happens: {@code hold}, {@code throw}, {@code fail}, or an answer at once.
   */
  private static final class TestRoute implements DirectRoute {

    final BlockingQueue<CompletableFuture<HttpAnswer>> held = new LinkedBlockingQueue<>();
    final AtomicInteger asked = new AtomicInteger();

    @Override
    public boolean matches(HttpMethod method, String uri) {
      return method.equals(HttpMethod.POST) && uri.startsWith("/direct");
    }

    @Override
    public int maxBodyBytes() {
      return LONGEST_BODY;
    }

    @Override
    public CompletionStage<HttpAnswer> answer(RequestHead head, byte[] bytes) {
      asked.incrementAndGet();
      String body = new String(bytes, StandardCharsets.UTF_8);
      return switch (body) {
        case "hold" -> {
          CompletableFuture<HttpAnswer> answer = new CompletableFuture<>();
          held.add(answer);
          yield answer;
        }
        case "throw" -> throw new IllegalStateException("made by the test");
        case "fail" -> CompletableFuture.failedFuture(new IllegalStateException("made, too"));
        case "long" -> CompletableFuture.completedFuture(HttpAnswer.json(200, "x".repeat(50_000)));
        default -> CompletableFuture.completedFuture(HttpAnswer.json(200, body + way()));
      };
    }

    /** Which of the two ways the request has come. */
    private static String way() {
      return StackWalker.getInstance()
              .walk(
                  frames ->
                      frames.anyMatch(
                          f ->
                              f.getClassName().equals(TakenRequest.class.getName())
                                  && f.getMethodName().equals("decide")))
          ? " directly"
          : " through Reactor Netty";
    }

    void release(String body) throws InterruptedException {
      CompletableFuture<HttpAnswer> answer =
          held.poll(Eventually.SOON.toMillis(), TimeUnit.MILLISECONDS);
      assertThat(answer).as("a request that waits for its answer").isNotNull();
      answer.complete(HttpAnswer.json(200, body));
    }
  }

  @BeforeEach
  void start() {
    RefusedRequests refused = new RefusedRequests(new SimpleMeterRegistry());
    DirectHandlers handlers = new DirectHandlers(List.of(route), open, refused);
    DirectRoutes direct = new DirectRoutes(List.of(route), refused);
    server =
        new ExchangeTurn()
            .apply(handlers.apply(HttpServer.create()))
            .childOption(ChannelOption.ALLOCATOR, allocator)
            .port(0)
            .route(
                routes ->
                    direct
                        .apply(routes)
                        .get(
                            "/slow",
                            (in, out) -> out.sendString(Flux.from(Mono.fromFuture(slowAnswer))))
                        .post(
                            "/echo",
                            (in, out) -> out.sendString(in.receive().aggregate().asString())))
            .bindNow();
    open.start();
  }

  /** Every buffer of the server's connections comes from an allocator that counts. */
  @AfterEach
  void leavesNoBufferBehind() {
    eventually().until(() -> used() == 0);
    server.disposeNow();
  }

  @Test
  void endsConnectionsWhoseBodyStallsDuringAStopAndNoOthers() throws InterruptedException {
    String length = "Content-Length: 20\r\n\r\n{\"quan";
    List<RawConnection> stalled =
        Stream.of(
                "POST /direct HTTP/1.1\r\nHost: x\r\n" + length,
                "POST /echo HTTP/1.1\r\nHost: x\r\n" + length,
                "POST /direct HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
                "GET /slow HTTP/1.1\r\nHost: x\r\n" + length)
            .map(
                text -> {
                  RawConnection connection = connect();
                  connection.send(text);
                  return connection;
                })
            .toList();
    try (RawConnection deciding = connect();
        RawConnection slow = connect()) {
      deciding.send(direct("hold"));
      slow.send("POST /direct HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab");
      eventually().until(() -> open.count() == 3);
      CompletableFuture<Void> stopped = new CompletableFuture<>();
      long start = System.nanoTime();

      open.stop(() -> stopped.complete(null));

      String answer = answerTo(slow, "cd");
      if (System.nanoTime() - start < Duration.ofSeconds(1).toNanos()) { // else it has stalled, too
        assertThat(answer).contains("200 OK").endsWith("abcd directly");
      }
      assertThat(stalled).allSatisfy(one -> assertThat(one.answer()).doesNotContain("{"));
      assertThat(stalled).as("has ended").allSatisfy(one -> assertThat(one.answer()).isEmpty());
      assertThat(stopped).as("a request is decided").isNotDone();
      route.release("late");
      assertThat(deciding.answer()).contains("200 OK").endsWith("late");
      assertThat(stopped).succeedsWithin(Duration.ofSeconds(60));
    } finally {
      stalled.forEach(RawConnection::close);
    }
  }

  /** Empty when the connection has ended. */
  private static String answerTo(RawConnection connection, String rest) {
    try {
      connection.send(rest);
      return connection.answer();
    } catch (UncheckedIOException e) {
      return "";
    }
  }

  private long used() {
    return allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory();
  }

  private RawConnection connect() {
    return new RawConnection(server.port());
  }

  private static String direct(String body) {
    return post("/direct", body);
  }

  private static String post(String path, String body) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + length(body) + "\r\n" + body;
  }

  private static String length(String body) {
    return "Content-Length: " + body.length() + "\r\n";
  }

  @Test
  void answersManyRequestsOfOneConnection() {
    try (RawConnection shopper = connect()) {
      for (int i = 0; i < 1_000; i++) {
        shopper.send(direct("request " + i));
        assertThat(shopper.answer()).startsWith("HTTP/1.1 200 OK").endsWith(i + " directly");
      }
    }
  }

  @Test
  void answersManyPipelinedRequestsInOrder() {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < 2_000; i++) {
      all.append(i % 7 == 3 ? post("/echo", "request " + i) : direct("request " + i));
    }
    try (RawConnection shopper = connect()) {
      shopper.send(all.toString());

      for (int i = 0; i < 2_000; i++) {
        assertThat(shopper.answer()).contains("request " + i);
      }
    }
  }

  @Test
  void takesNothingWhileAnAnswerIsOpen() throws InterruptedException {
    try (RawConnection shopper = connect()) {
      shopper.send(direct("hold") + post("/echo", "between") + direct("hold") + direct("last"));
      eventually().until(() -> route.held.size() == 1);

      route.release("first");
      assertThat(shopper.answer()).endsWith("first");
      assertThat(shopper.answer()).contains("between");
      route.release("second");
      assertThat(shopper.answer()).endsWith("second");
      assertThat(shopper.answer()).contains("last");
      assertThat(route.asked).hasValue(3);
    }
  }

  @Test
  void leavesARequestToReactorNettyThatStillOwesAnAnswer() {
    try (RawConnection shopper = connect()) {
      shopper.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n" + direct("behind it"));
      slowAnswer.complete("slow");

      assertThat(shopper.answer()).startsWith("HTTP/1.1 200").contains("chunked");
      assertThat(shopper.answer()).as("its chunks").contains("slow\r\n0\r\n");
      assertThat(shopper.answer()).endsWith("behind it through Reactor Netty");
      shopper.send(direct("after it"));
      assertThat(shopper.answer()).endsWith("after it directly");
    }
  }

  @Test
  void waitsForTheRestOfABody() {
    try (RawConnection shopper = connect()) {
      shopper.send("POST /direct HTTP/1.1\r\nHost: x\r\nContent-Le");
      shopper.send("ngth: 10\r\n\r\n01234");
      eventually().until(() -> open.count() == 1);
      shopper.send("56789" + direct("next"));

      assertThat(shopper.answer()).endsWith("0123456789 directly");
      assertThat(shopper.answer()).endsWith("next directly");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /direct HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        "POST /direct HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody",
        "POST /direct HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\nbody",
        "POST /direct HTTP/1.0\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
      })
  void leavesEveryOtherRequestToReactorNetty(String request) {
    try (RawConnection shopper = connect()) {
      shopper.send(request);

      assertThat(shopper.answer()).contains(" 200 OK").endsWith("body through Reactor Netty");
    }
  }

  @Test
  void leavesARequestWithoutALengthToReactorNetty() {
    try (RawConnection shopper = connect()) {
      shopper.send("POST /direct HTTP/1.1\r\nHost: x\r\n\r\n");

      assertThat(shopper.answer()).endsWith(" through Reactor Netty");
    }
  }

  @Test
  void letsReactorNettyAskForABodyThatIsHeldBack() {
    try (RawConnection shopper = connect()) {
      shopper.send(
          "POST /direct HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n" + length("body") + "\r\n");
      assertThat(shopper.answer()).startsWith("HTTP/1.1 100");
      shopper.send("body");

      assertThat(shopper.answer()).endsWith("body through Reactor Netty");
      shopper.send(direct("next"));
      assertThat(shopper.answer()).endsWith("next directly");
    }
  }

  @Test
  void refusesABodyThatIsTooLong() {
    try (RawConnection shopper = connect()) {
      shopper.send(direct("x".repeat(LONGEST_BODY + 1)));

      assertThat(shopper.answer())
          .startsWith("HTTP/1.1 413")
          .contains("PAYLOAD_TOO_LARGE", "connection: close");
      assertThat(shopper.answer()).as("the connection has ended").isEmpty();
    }
    try (RawConnection shopper = connect()) {
      shopper.send(direct("x".repeat(LONGEST_BODY)));
      assertThat(shopper.answer()).startsWith("HTTP/1.1 200").endsWith(" directly");
    }
  }

  @Test
  void leavesARequestThatCannotBeReadToReactorNetty() {
    try (RawConnection shopper = connect()) {
      shopper.send("POST /direct HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n0123456789");

      assertThat(shopper.answer()).startsWith("HTTP/1.1 400");
    }
    assertThat(route.asked).hasValue(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"throw", "fail"})
  void answersAFailureWithAProblemAndKeepsTheConnection(String body) {
    try (RawConnection shopper = connect()) {
      shopper.send(direct(body));
      assertThat(shopper.answer())
          .startsWith("HTTP/1.1 500")
          .contains("application/problem+json", "\"code\":\"INTERNAL_ERROR\"")
          .doesNotContain("made");
      shopper.send(direct("next"));
      assertThat(shopper.answer()).endsWith("next directly");
    }
  }

  @Test
  void beginsNothingForAShopperWhoDoesNotReadTheAnswers() throws InterruptedException {
    int requests = 2_000;
    int fitIntoSockets = 500; // of 50 kB each; the kernel's buffers take some MB
    try (RawConnection shopper = connect()) {
      Thread sender = new Thread(() -> shopper.send(direct("long").repeat(requests)));
      sender.start();
      eventually().until(() -> route.asked.get() > 1);

      for (int i = 0; i < requests; i++) {
        assertThat(route.asked).hasValueLessThan(i + fitIntoSockets);
        assertThat(shopper.answer()).endsWith("xxx");
      }
      sender.join(60_000);
      assertThat(sender.isAlive()).isFalse();
    }
  }

  @Test
  void readsLittleBeforeItsTurn() throws InterruptedException {
    try (RawConnection shopper = connect()) {
      shopper.send(direct("hold").repeat(1_000)); // 57 kB

      for (int i = 0; i < 100; i++) {
        route.release("answer " + i);
        assertThat(shopper.answer()).endsWith("answer " + i);
        assertThat(used()).isLessThan(24 << 10);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/direct", "/echo"})
  void keepsNothingOfAnsweredRequests(String path) throws InterruptedException {
    int requests = 2_000; // of 570 bytes, so that nearly every read ends in a head
    String one = post(path, "x").replace("Host: x", "Host: x\r\nX-Note: " + "n".repeat(500));
    try (RawConnection shopper = connect()) {
      Thread sender = new Thread(() -> shopper.send(one.repeat(requests)));
      sender.start();

      for (int i = 0; i < requests; i++) {
        assertThat(shopper.answer()).startsWith("HTTP/1.1 200 OK");
        assertThat(used()).isLessThan(128 << 10);
      }
      sender.join(60_000);
      assertThat(sender.isAlive()).isFalse();
    }
  }

  @Test
  void answersWhatIsOpenBeforeItStops() throws InterruptedException {
    AtomicBoolean stopped = new AtomicBoolean();
    try (RawConnection shopper = connect();
        RawConnection other = connect()) {
      shopper.send(direct("hold"));
      eventually().until(() -> route.held.size() == 1);

      open.stop(() -> stopped.set(true));
      other.send(direct("new"));
      assertThat(other.answer()).endsWith("new through Reactor Netty");
      assertThat(stopped).as("a request is open").isFalse();

      route.release("the last answer");
      assertThat(shopper.answer()).endsWith("the last answer");
      eventually().untilTrue(stopped);
    }
  }

  @Test
  void stopsWithoutThoseWhoHaveLeft() throws InterruptedException {
    AtomicBoolean stopped = new AtomicBoolean();
    try (RawConnection shopper = connect();
        RawConnection half = connect()) {
      shopper.send(direct("hold") + direct("behind it"));
      half.send("POST /direct HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n01234");
      eventually().until(() -> route.held.size() == 1 && open.count() == 2);
    }
    open.stop(() -> stopped.set(true));
    eventually().until(() -> open.count() == 1);
    route.release("for nobody");

    eventually().untilTrue(stopped);
    assertThat(route.asked).hasValue(1);
  }
}
