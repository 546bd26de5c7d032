package io.seckill.system.ha;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.seckill.testing.Bounded;
import io.seckill.testing.CleanEnvironment;
import io.seckill.testing.Eventually;
import io.seckill.testing.Ports;
import io.seckill.testing.Programs;
import io.seckill.testing.RawConnection;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The shipped configuration of HAProxy, in front of servers that answer with their names. */
class HaProxyIT {

  private static final Path ROOT = Path.of(System.getProperty("seckill.root"));
  private static final Path CONFIGURATION = ROOT.resolve("deploy/haproxy/haproxy.cfg");

  private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

  private HttpClient http = HttpClient.newHttpClient();
  private final List<HttpServer> servers = new ArrayList<>();

  /** Names of the processes, of one as {@code gateway-1}, that are alive and not ready. */
  private final Set<String> unready = ConcurrentHashMap.newKeySet();

  private final AtomicInteger cutOff = new AtomicInteger();
  private final AtomicInteger bodiesAwaited = new AtomicInteger();
  private final Map<String, Integer> ports = new LinkedHashMap<>();

  /** Its folder, sbin, is not on the PATH of every user. */
  private final String program = Programs.find("haproxy", "haproxy");

  private final ProcessBuilder builder =
      new ProcessBuilder(program, "-db", "-f", CONFIGURATION.toString())
          .redirectErrorStream(true)
          .redirectOutput(new File("target", "haproxy.log"));
  private Process haProxy;

  @BeforeEach
  void start() throws IOException {
    CleanEnvironment.give(builder, Map.of("BIND", "127.0.0.1"));
    Map<String, String> environment = builder.environment();
    for (String port : List.of("GATEWAY_PORT", "ADMIN_PORT", "CONSUMER_PORT")) {
      ports.put(port, Ports.free());
      environment.put(port, ports.get(port).toString());
    }
    for (int number = 1; number <= 2; number++) {
      environment.put("GATEWAY_" + number, address(server("gateway-" + number, false)));
      environment.put("ADMIN_" + number, address(server("gateway-" + number, true)));
      environment.put("CONSUMER_" + number, "127.0.0.1:" + Ports.free()); // nobody is there
    }
    haProxy = builder.start();
  }

  @AfterEach
  void stop() {
    haProxy.destroyForcibly();
    servers.forEach(server -> server.stop(0));
  }

  @Tag("proof")
  @Test
  void shoppersAndOperatorsReachProcessesThatAreReady() throws Exception {
    eventually().ignoreExceptions().until(() -> send("GATEWAY_PORT", "/").statusCode() == 200);
    awaitAnswers("GATEWAY_PORT", "gateway-1 for 127.0.0.1", "gateway-2 for 127.0.0.1");
    awaitAnswers("ADMIN_PORT", "gateway-1 admin", "gateway-2 admin");

    unready.add("gateway-1");
    awaitAnswers("GATEWAY_PORT", "gateway-2 for 127.0.0.1");
    awaitAnswers("ADMIN_PORT", "gateway-2 admin");

    unready.add("gateway-2"); // where none is ready, all are asked
    awaitAnswers("GATEWAY_PORT", "gateway-1 for 127.0.0.1", "gateway-2 for 127.0.0.1");
    awaitAnswers("ADMIN_PORT", "gateway-1 admin", "gateway-2 admin");

    eventually() // none is alive
        .until(
            () -> send("CONSUMER_PORT", "/"),
            answer -> isProblem(answer, 503, "DATABASE_UNAVAILABLE"));
    HttpResponse<String> cut =
        eventually() // a 503 has reached no server
            .until(this::sendCut, answer -> answer.statusCode() != 503);
    assertThat(isProblem(cut, 502, "ADMISSION_UNAVAILABLE"))
        .as("%s %s", cut.headers(), cut.body())
        .isTrue();
    assertThat(cutOff).as("a request is never sent twice").hasValue(1);
  }

  @Test
  void passesTheLongestHeadThatAGatewayReads() {
    String line = "/?" + "x".repeat(4_000);
    String token = "x".repeat(16_000);

    eventually()
        .ignoreExceptions()
        .until(() -> send("GATEWAY_PORT", line, "Authorization", token).statusCode() == 200);
  }

  @Test
  void refusesABodyThatCannotBeReadWithAProblem() throws Exception {
    eventually().ignoreExceptions().until(() -> send("GATEWAY_PORT", "/").statusCode() == 200);

    try (RawConnection shopper = new RawConnection(ports.get("GATEWAY_PORT"))) {
      shopper.send("POST /body HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\n");
      eventually("a server reads the body").until(() -> bodiesAwaited.get() > 0);
      shopper.send("no length\r\n");

      assertThat(shopper.untilClosed().toLowerCase(Locale.ROOT))
          .startsWith("http/1.1 400 ")
          .contains("content-type: application/problem+json")
          .contains("\"code\":\"invalid_request\"")
          .containsPattern("\"correlationid\":\"" + UUID + "\"");
    }
  }

  /** With a hundredth of the connections, and time for those that send nothing. */
  @Test
  void shoppersLeaveConnectionsToOperatorsAndGateways() throws Exception {
    String small =
        Files.readString(CONFIGURATION)
            .replaceAll("(maxconn \\d+)\\d\\d\\b", "$1")
            .replaceAll("(timeout http-request \\d+)s", "$1m");
    Bounded.waitFor(haProxy.destroyForcibly());
    builder.command(
        program, "-db", "-f", Files.writeString(Path.of("target", "small.cfg"), small).toString());
    haProxy = builder.start();
    eventually().ignoreExceptions().until(() -> send("ADMIN_PORT", "/").statusCode() == 200);

    List<Socket> shoppers = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        shoppers.add(new Socket(InetAddress.getLoopbackAddress(), ports.get("GATEWAY_PORT")));
      }
      eventually("no place for another shopper").until(() -> waits("GATEWAY_PORT"));

      for (String port : List.of("ADMIN_PORT", "CONSUMER_PORT")) {
        assertThat(waits(port)).as(port).isFalse();
      }
    } finally {
      for (Socket shopper : shoppers) {
        shopper.close();
      }
    }
  }

  /** Whether a new connection has no answer within five seconds. */
  private boolean waits(String port) throws IOException {
    try (Socket caller = new Socket(InetAddress.getLoopbackAddress(), ports.get(port))) {
      caller.setSoTimeout(5_000);
      caller.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      return caller.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return true;
    }
  }

  /** On a connection that had answers the shopper sees its end. */
  private HttpResponse<String> sendCut() throws IOException, InterruptedException {
    http = HttpClient.newHttpClient();
    return send("GATEWAY_PORT", "/cut");
  }

  /** A health check that a busy machine has answered late takes a server away for a moment. */
  private void awaitAnswers(String port, String... expected) {
    eventually().untilAsserted(() -> assertThat(answers(port)).containsOnly(expected));
  }

  /** With each member and header that the gateway's own problems have. */
  private static boolean isProblem(HttpResponse<String> answer, int status, String code) {
    JsonNode problem = JsonMapper.shared().readTree(answer.body());
    return answer.statusCode() == status
        && header(answer, "content-type").equals("application/problem+json")
        && header(answer, "retry-after").equals(status == 503 ? "1" : "")
        && problem.path("type").asString().equals("urn:seckill:problem:" + code)
        && !problem.path("title").asString().isEmpty()
        && problem.path("status").asInt() == status
        && problem.path("code").asString().equals(code)
        && problem.path("correlationId").asString().matches(UUID);
  }

  private static String header(HttpResponse<String> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private HttpResponse<String> send(String port, String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + ports.get(port) + path))
            .timeout(Eventually.SOON)
            .POST(BodyPublishers.ofString("{}"));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), BodyHandlers.ofString());
  }

  /** The distinct answers to ten requests: each server is chosen when both have no other work. */
  private Set<String> answers(String port) throws IOException, InterruptedException {
    Set<String> answers = new HashSet<>();
    for (int i = 0; i < 10; i++) {
      answers.add(send(port, "/").body());
    }
    return answers;
  }

  private HttpServer server(String name, boolean admin) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> answer(exchange, name, admin));
    server.start();
    servers.add(server);
    return server;
  }

  /** Health is on the admin port alone. */
  private void answer(HttpExchange exchange, String name, boolean admin) throws IOException {
    try (exchange) {
      String shopper = exchange.getRequestHeaders().getFirst("X-Forwarded-For");
      String text = name + (admin ? " admin" : " for " + shopper);
      int status =
          switch (exchange.getRequestURI().getPath()) {
            case "/" -> 200;
            case "/body" -> {
              bodiesAwaited.incrementAndGet();
              yield 200;
            }
            case "/actuator/health/liveness" -> admin ? 200 : 404;
            case "/actuator/health/readiness" -> admin ? unready.contains(name) ? 503 : 200 : 404;
            case "/cut" -> {
              cutOff.incrementAndGet();
              yield 0;
            }
            default -> 404;
          };
      if (status > 0) {
        exchange.getRequestBody().readAllBytes();
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
      }
    }
  }

  private static String address(HttpServer server) {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  @Test
  void itsTimesFitThoseOfTheServices() throws IOException {
    String defaults = section("defaults");
    int noticed = number(defaults, "inter (\\d+)s fall") * number(defaults, "fall (\\d+)");
    int delay = number(read("scripts/lib/services.sh"), "SECKILL_SHUTDOWN_DELAY:-(\\d+)s");
    assertThat(noticed + 1).as("a process stops when it gets nothing new").isLessThan(delay);

    String gateway = "gateway-service/src/main/java/io/seckill/gateway/";
    int silence =
        number(
            read(gateway + "orders/OrderController.java"),
            "HEARTBEAT = Duration.ofSeconds\\((\\d+)\\)");
    for (String timeout : List.of("timeout client (\\d+)s", "timeout server (\\d+)s")) {
      assertThat(number(defaults, timeout)).as("event streams").isGreaterThan(2 * silence);
    }
    int minutes =
        number(
            read(gateway + "backends/ConsumerClient.java"),
            "LONG_TIMEOUT = Duration.ofMinutes\\((\\d+)\\)");
    for (String backend : List.of("backend admin", "backend consumers")) {
      assertThat(number(section(backend), "timeout server (\\d+)s"))
          .as("%s answers itself", backend)
          .isGreaterThan(60 * minutes);
    }
    assertThat(
            number(read(gateway + "web/AdminPort.java"), "IDLE = Duration.ofMinutes\\((\\d+)\\)"))
        .as("a preheat says nothing")
        .isGreaterThan(minutes);
    int unacknowledged =
        number(read(gateway + "web/IdleTimeout.java"), "UNACKNOWLEDGED_MS = (\\d+)_000");
    for (String frontend : List.of("frontend shop", "frontend admin")) {
      assertThat(number(section(frontend), "tcp-ut (\\d+)s"))
          .as("event streams of %s", frontend)
          .isEqualTo(unacknowledged);
    }
  }

  @Test
  void itsBuffersHoldTheLongestHeadThatAGatewayReads() throws IOException {
    int line = 4_096; // of Reactor Netty
    int headers =
        1_024
            * number(
                read("gateway-service/src/main/resources/application.yml"),
                "max-http-request-header-size: (\\d+)KB");
    int kept = 1_024; // tune.maxrewrite

    assertThat(number(section("global"), "tune.bufsize (\\d+)"))
        .isGreaterThanOrEqualTo(line + headers + kept);
  }

  /** The lines from this one to the next that is not indented. */
  private static String section(String name) throws IOException {
    Matcher section =
        Pattern.compile("(?m)^" + name + "$\\n((?:[ #].*\\n|\\n)*)")
            .matcher(Files.readString(CONFIGURATION));
    assertThat(section.find()).as(name).isTrue();
    return section.group(1);
  }

  private static int number(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    assertThat(matcher.find()).as(pattern).isTrue();
    return Integer.parseInt(matcher.group(1));
  }

  private static String read(String file) throws IOException {
    return Files.readString(ROOT.resolve(file));
  }
}
