package io.seckill.gateway.web;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The two ways to an answer, through {@link DirectHandler} and through Reactor Netty. */
@ExtendWith(TestServers.class)
class DirectAnswersIT {

  /** A header that no server has to understand, but that {@link DirectHandler} leaves alone. */
  private static final String NOT_DIRECTLY = "Upgrade: nothing\r\n";

  private static final String TOKEN = "Authorization: ";

  private static final GatewayStage stage = GatewayStage.shared();

  @Test
  void giveTheSameBytes() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 1);
    String token = "Authorization: " + TestGateway.shopper(order.user()) + "\r\n";
    String key = "Idempotency-Key: " + order.key() + "\r\n";
    List<String> heads =
        List.of(
            purchase(sku) + token + key,
            purchase(sku) + token + key.replace("key", "k y"),
            purchase(sku) + key,
            purchase(sku) + "Authorization: Bearer " + "x".repeat(20) + "\r\n",
            purchase(0) + token + key,
            purchase(987_654_321) + token + key,
            "GET /api/v1/orders/" + order.id() + " HTTP/1.1\r\n" + token,
            "GET /api/v1/orders/" + order.id() + " HTTP/1.1\r\n",
            "GET /api/v1/orders/1" + " HTTP/1.1\r\n" + token,
            "GET /api/v1/orders/abc?x=y HTTP/1.1\r\n" + token);

    for (String head : heads) {
      String direct = answer(head);
      assertThat(direct).startsWith("HTTP/1.1 ").contains("X-Correlation-Id: correlation-1\r\n");
      assertThat(direct.toLowerCase(Locale.ROOT))
          .contains("\r\ncache-control: no-store\r\n")
          .contains("\r\nx-content-type-options: nosniff\r\n");
      assertThat(answer(head + NOT_DIRECTLY)).isEqualTo(direct);
    }
  }

  /**
   * A request in each of the four ways to an answer, changed as a row says.
   *
   * @param status of the answer; 0 for that of the unchanged request
   * @param code of the problem
   */
  private record Row(String name, UnaryOperator<String> change, int status, String code) {}

  private static Row accepted(String name, UnaryOperator<String> change) {
    return new Row(name, change, 0, "");
  }

  private static Row acceptedWith(String header) {
    return accepted(header, with(header));
  }

  private static Row refused(String name, UnaryOperator<String> change) {
    return new Row(name, change, 400, "INVALID_REQUEST");
  }

  private static Row refusedWith(String header) {
    return refused(header, with(header));
  }

  private static UnaryOperator<String> with(String header) {
    return request -> request.replace(TOKEN, header + "\r\n" + TOKEN);
  }

  private static UnaryOperator<String> host(String value) {
    return request -> request.replace("Host: x\r\n", value);
  }

  private static UnaryOperator<String> target(String from, String to) {
    return request -> request.replaceFirst(" /" + from, " " + Matcher.quoteReplacement(to));
  }

  private static UnaryOperator<String> query(String query) {
    return request ->
        request.replaceFirst(" HTTP", Matcher.quoteReplacement("?" + query) + " HTTP");
  }

  private static UnaryOperator<String> version(String version) {
    return request -> request.replaceFirst("HTTP/1.1", version);
  }

  private static UnaryOperator<String> method(String method) {
    return request -> request.replaceFirst("^[A-Z]+", method);
  }

  /** RFC 9112 and RFC 9110, in the order of their sections. */
  private static List<Row> rows() {
    return List.of(
        accepted("9112/2.2 empty lines before", request -> "\r\n\r\n" + request),
        refused("9112/2.2 bare LF", request -> request.replace("\r\n", "\n")),
        refused("9112/2.2 bare CR", with("X-Note: a\rb")),
        refused(
            "9112/2.2 blank after the request line",
            request -> request.replace("\r\nHost", "\r\n Host")),
        new Row("9112/2.3 HTTP/2.0", version("HTTP/2.0"), 505, "VERSION_NOT_SUPPORTED"),
        new Row("9112/2.3 HTTP/0.9", version("HTTP/0.9"), 505, "VERSION_NOT_SUPPORTED"),
        accepted("9112/2.3 http/1.1", version("http/1.1")), // the codec treats them alike
        refused("9112/2.3 HTTP/1.1.1", version("HTTP/1.1.1")),
        accepted("9112/2.3 HTTP/1.0", version("HTTP/1.0")),
        accepted("9112/2.3 HTTP/1.0 without Host", version("HTTP/1.0").andThen(host(""))::apply),
        new Row("9112/3 line too long", query("x=" + "y".repeat(5_000)), 414, "URI_TOO_LONG"),
        new Row("9110/9.1 unknown method", method("BREW"), 405, "METHOD_NOT_ALLOWED"),
        new Row("9110/9.1 get", method("get"), 405, "METHOD_NOT_ALLOWED"),
        new Row("9110/9.3.8 TRACE", method("TRACE"), 405, "METHOD_NOT_ALLOWED"),
        refused("9112/3.2 no Host", host("")),
        refused("9112/3.2 two Hosts", host("Host: x\r\nHost: y\r\n")),
        refused("9112/3.2 Host twice", host("Host: x\r\nHost: x\r\n")),
        refused("9112/3.2 blank in Host", host("Host: a b\r\n")),
        refused("9112/3.2 path in Host", host("Host: x/y\r\n")),
        refused("9112/3.2 user in Host", host("Host: u@x\r\n")),
        refused("9112/3.2 port of Host", host("Host: x:99999\r\n")),
        accepted("9112/3.2 empty Host", host("Host: \r\n")),
        accepted("9112/3.2 Host with port", host("Host: shop.example:8080\r\n")),
        accepted("9112/3.2 Host with empty port", host("Host: shop.example:\r\n")),
        accepted("9112/3.2 Host with _", host("Host: shop_1:80\r\n")),
        accepted("9112/3.2 Host in IPv6", host("Host: [::1]:80\r\n")),
        accepted("3986/3.3 parameters", request -> request.replaceFirst("/v1/", "/v1;a=b/")),
        accepted("9112/3.2.2 absolute-form", target("", "http://shop.example/")),
        accepted("9112/3.2.2 https", target("", "HTTPS://shop.example:443/")),
        accepted("9112/3.2.2 IPv6", target("", "http://[::1]/")),
        refused(
            "9112/3.2.2 absolute-form without Host",
            target("", "http://x/").andThen(host(""))::apply),
        refused("9112/3.2.2 ftp", target("", "ftp://shop.example/")),
        refused(
            "9112/3.2.3 authority-form",
            request -> request.replaceFirst("^\\S+ \\S+", "CONNECT x:80")),
        refused(
            "9112/3.2.4 asterisk-form", request -> request.replaceFirst("^(\\S+) \\S+", "$1 *")),
        refused("9112/3.2 no slash", target("", "")),
        refused("9112/3.2 fragment", query("x#top")),
        accepted("3986/2.3 encoded letters", request -> request.replaceFirst("/v1/", "/%761/")),
        accepted("3986/3.4 query", query("a=b&c")),
        accepted("what browsers do not encode", query("q=a|b{}[]^`\\%22&off=50%")),
        accepted("UTF-8", query("q=\u00e9\u4e2d")),
        refused("9112/5.1 blank before the colon", with("X-Note : a")),
        refused("9112/5.1 no colon", with("X-Note")),
        refused("9112/5.1 no name", with(": a")),
        refused("9112/5.1 name", with("X(Note): a")),
        refused("9112/5.1 NUL", with("X-Note: a\0b")),
        accepted("9112/5.1 blanks around the value", with("X-Note:\t a \t")),
        accepted("9112/5.2 folded value", with("X-Note: a\r\n b")),
        acceptedWith("X-Note: " + "a".repeat(15_000)),
        new Row(
            "9110/5.4 cookies", with("Cookie: " + "a".repeat(17_000)), 431, "HEADERS_TOO_LARGE"),
        new Row(
            "9110/5.4 headers",
            with("X-Note: aaaaaaaaaaaa\r\n".repeat(1_000) + "X: y"),
            431,
            "HEADERS_TOO_LARGE"),
        new Row("9112/6.1 gzip", with("Transfer-Encoding: gzip"), 501, "NOT_IMPLEMENTED"),
        new Row("9112/6.1 identity", with("Transfer-Encoding: identity"), 501, "NOT_IMPLEMENTED"),
        refusedWith("Transfer-Encoding: chunked, gzip\r\nContent-Length: 5"),
        refusedWith("Transfer-Encoding: chunked\r\nContent-Length: 5"),
        refused(
            "9112/6.1 in HTTP/1.0",
            with("Transfer-Encoding: chunked").andThen(version("HTTP/1.0"))::apply),
        refusedWith("Content-Length: 1\r\nContent-Length: 2"),
        refusedWith("Content-Length: 1, 2"),
        refusedWith("Content-Length: +1"),
        refusedWith("Content-Length: -1"),
        refusedWith("Content-Length: 1e1"),
        refusedWith("Content-Length: 99999999999999999999"),
        acceptedWith("Connection: keep-alive"),
        acceptedWith("Connection: close"),
        acceptedWith("Upgrade: h2c\r\nConnection: Upgrade"),
        acceptedWith("TE: trailers"),
        new Row("9110/10.1.1", with("Expect: 200-ok"), 417, "EXPECTATION_FAILED"),
        acceptedWith("Accept: */*"),
        acceptedWith("Accept:"),
        acceptedWith("Accept: text/html, application/*;q=0.5"),
        acceptedWith("Accept: text/html\r\nAccept: application/json"),
        new Row("9110/8.3", with("Content-Type: text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE"),
        new Row("9110/12.5.1", with("Accept: text/html"), 406, "NOT_ACCEPTABLE"),
        new Row("9110/12.5.1 no type", with("Accept: html"), 406, "NOT_ACCEPTABLE"));
  }

  @Test
  void acceptAndRefuseTheSameRequests() {
    long sku = stage.onSale(PurchasePolicy.UNLIMITED, 0, 100_000);
    Placed order = stage.buy(sku, 1);
    TestGateway gateway = stage.gateway();
    String shopper = TestGateway.shopper(order.user());
    String body = "{\"quantity\":1}";
    String buy = request("POST /api/v1/skus/" + sku + "/orders", shopper);
    List<String> wrong = new ArrayList<>();
    for (Row row : rows()) {
      // A row with a body or a length of its own stands for all of its section.
      boolean framed = row.name().contains("Content-Length") || row.name().contains("9112/6");
      String sent = framed ? buy : buy.replace(TOKEN, "Content-Length: 14\r\n" + TOKEN);
      compare(row, gateway.shopPort(), sent + body, 202, wrong);
      compare(
          row, gateway.shopPort(), sent.replace(TOKEN, NOT_DIRECTLY + TOKEN) + body, 202, wrong);
      if (row.status() == 415) {
        continue; // the others have no body
      }
      compare(
          row,
          gateway.shopPort(),
          request("GET /api/v1/orders/" + order.id(), shopper),
          200,
          wrong);
      compare(row, gateway.shopPort(), request("GET /api/v1/skus/" + sku, shopper), 200, wrong);
      compare(
          row,
          gateway.adminPort(),
          request("GET /admin/v1/skus/" + sku, TestGateway.operator()),
          200,
          wrong);
    }
    assertThat(wrong).isEmpty();
  }

  private static String request(String start, String authorization) {
    return start
        + " HTTP/1.1\r\nHost: x\r\nX-Correlation-Id: correlation-1\r\n"
        + TOKEN
        + authorization
        + "\r\nIdempotency-Key: the-same-for-all\r\n\r\n";
  }

  private static void compare(Row row, int port, String request, int plain, List<String> wrong) {
    Sent sent =
        eventually()
            .until(
                () -> Sent.of(row, port, request),
                one -> !one.answer().matches("(?s)HTTP/1.[01] 503 .*"));
    String answer = sent.answer();
    boolean asExpected =
        answer.matches("(?s)HTTP/1.[01] " + (row.status() == 0 ? plain : row.status()) + " .*");
    if (row.status() != 0) {
      asExpected &= isProblem(answer, row) && refused(row.code()) == sent.before() + 1;
    }
    if (!asExpected) {
      wrong.add(row.name() + ": " + request.substring(0, request.indexOf('\r')) + " -> " + answer);
    }
  }

  /**
   * A request that was sent once; a slow machine may cause 503 at times.
   *
   * @param before how often a request was refused as the row says before
   */
  private record Sent(double before, String answer) {

    static Sent of(Row row, int port, String request) {
      double before = refused(row.code());
      try (RawConnection caller = new RawConnection(port)) {
        caller.send(row.change().apply(request));
        return new Sent(before, caller.answer());
      }
    }
  }

  /** How often the stage's gateway has refused a request with this code, none for an empty one. */
  private static double refused(String code) {
    return code.isEmpty() ? 0 : stage.gateway().counter("seckill.requests.refused", "code", code);
  }

  private static boolean isProblem(String answer, Row row) {
    String head = answer.toLowerCase(Locale.ROOT);
    return answer.contains("\"code\":\"" + row.code() + "\"")
        && head.contains("\r\nx-correlation-id: ")
        && head.contains("\r\ncontent-type: application/problem+json\r\n")
        && (row.status() != 405 || head.contains("\r\nallow: "));
  }

  private static String purchase(long sku) {
    return "POST /api/v1/skus/" + sku + "/orders HTTP/1.1\r\nContent-Length: 14\r\n";
  }

  /** A slow machine may cause 503 at times. */
  private static String answer(String head) {
    return eventually().until(() -> send(head), answer -> !answer.startsWith("HTTP/1.1 503 "));
  }

  private static String send(String head) {
    String body = head.startsWith("POST") ? "{\"quantity\":1}" : "";
    try (RawConnection shopper = new RawConnection(stage.gateway().shopPort())) {
      shopper.send(head + "Host: x\r\nX-Correlation-Id: correlation-1\r\n\r\n" + body);
      return shopper.answer();
    }
  }
}
