package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.pattern.PathPattern;

@ExtendWith(TestServers.class)
class ProblemsIT {

  private static final TestGateway gateway = GatewayStage.shared().gateway();

  @Test
  void saysWhatIsWrongAsAProblemWithACodeAndTheCallersCorrelationId() {
    GatewayAnswer answer =
        gateway.send(
            gateway
                .shop("/api/v1/nothing")
                .header("Authorization", TestGateway.shopper(7))
                .header("X-Correlation-Id", "my-own-id_1"));

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(answer.header("X-Correlation-Id")).isEqualTo("my-own-id_1");
    assertThat(answer.text("correlationId")).isEqualTo("my-own-id_1");
    assertThat(answer.code()).isEqualTo("NOT_FOUND");
    assertThat(answer.text("type")).isEqualTo("urn:seckill:problem:NOT_FOUND");
  }

  @ParameterizedTest
  @ValueSource(strings = {"short", "with blank in it", "<script>alert(1)</script>"})
  void replacesACorrelationIdThatCouldHarm(String id) {
    GatewayAnswer answer =
        gateway.send(gateway.shop("/api/v1/skus/1").header("X-Correlation-Id", id));

    assertThat(answer.header("X-Correlation-Id")).isNotEqualTo(id).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "PATCH, /api/v1/orders/12345, 405, METHOD_NOT_ALLOWED",
    "POST, /api/v1/orders, 405, METHOD_NOT_ALLOWED",
    "PUT, /api/v1/skus/1001, 405, METHOD_NOT_ALLOWED",
    "GET, /api/v1/orders/abc, 404, UNKNOWN_ORDER",
    "GET, /api/v1/orders/0, 404, UNKNOWN_ORDER",
    "GET, /api/v1/orders/99999999999999999999, 404, UNKNOWN_ORDER",
    "GET, /api/v1/orders/-1, 404, UNKNOWN_ORDER",
    "GET, /api/v1/orders/abc/events, 404, UNKNOWN_ORDER",
    "GET, /api/v1/skus/abc, 400, INVALID_REQUEST",
    "GET, /api/v1/skus/0, 400, INVALID_REQUEST",
    "GET, /api/v1/skus/9007199254740992, 400, INVALID_REQUEST",
    "GET, /api/v1/skus/%7B1%7D, 400, INVALID_REQUEST",
    "GET, /api/v1/skus/987654321, 404, UNKNOWN_SKU",
    "GET, /api/v1/orders?limit=0, 400, INVALID_REQUEST",
    "GET, /api/v1/orders?limit=101, 400, INVALID_REQUEST",
    "GET, /api/v1/orders?limit=1.9, 400, INVALID_REQUEST",
    "GET, /api/v1/orders?cursor=x, 400, INVALID_REQUEST",
    "GET, /api/v1/orders/1/2/3, 404, NOT_FOUND"
  })
  void hasAProblemForEveryWrongRequestOfAShopper(
      String method, String path, int status, String code) {
    GatewayAnswer answer = GatewayAnswer.available(() -> gateway.call(7, method, path, null));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(!answer.text("field").isEmpty()).as(answer.toString()).isEqualTo(status == 400);
    assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(answer.body()).doesNotContain("Exception").doesNotContain("org.spring");
  }

  @ParameterizedTest
  @CsvSource({
    "DELETE, /admin/v1/skus/1001, 405, METHOD_NOT_ALLOWED",
    "GET, /admin/v1/skus/1001/preheat, 405, METHOD_NOT_ALLOWED",
    "GET, /admin/v1/skus/x, 400, INVALID_REQUEST",
    "POST, /admin/v1/skus/1e3/preheat, 400, INVALID_REQUEST",
    "POST, /admin/v1/skus/987654321/open, 404, UNKNOWN_SKU",
    "POST, /admin/v1/skus/987654321/explode, 404, NOT_FOUND",
    "GET, /admin/v1/dead-letters/x, 400, INVALID_REQUEST",
    "GET, /admin/v1/dead-letters?state=GONE, 400, INVALID_REQUEST",
    "GET, /admin/v1/dead-letters?limit=100000, 400, INVALID_REQUEST",
    "GET, /admin/v1/dead-letters?=1, 400, INVALID_REQUEST",
    "GET, /admin/v1/audits?day=%FF, 400, INVALID_REQUEST"
  })
  void hasAProblemForEveryWrongRequestOfAnOperator(
      String method, String path, int status, String code) {
    GatewayAnswer answer = gateway.operate(method, path, null);

    assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(!answer.text("field").isEmpty()).as(answer.toString()).isEqualTo(status == 400);
    assertThat(answer.body()).doesNotContain("Exception").doesNotContain("org.spring");
  }

  @ParameterizedTest
  @CsvSource({
    "/, GET HEAD",
    "/assets/1/shop.js, GET HEAD",
    "/api/v1/skus, GET",
    "/api/v1/skus/1001, GET",
    "/api/v1/skus/1001/orders, POST",
    "/api/v1/orders/12345, GET DELETE",
    "/api/v1/orders/12345/payment, POST"
  })
  void namesTheMethodsThatAnAddressTakes(String path, String methods) {
    GatewayAnswer refused = gateway.call(7, "PATCH", path, null);

    assertThat(refused.status()).isEqualTo(405);
    assertThat(refused.code()).isEqualTo("METHOD_NOT_ALLOWED");
    assertThat(refused.header("Allow")).contains(methods.split(" "));
    GatewayAnswer options = gateway.call(7, "OPTIONS", path, null);
    assertThat(options.status()).isEqualTo(200);
    assertThat(options.header("Allow")).contains(methods.split(" "));
  }

  @Test
  void changesNothingForACallerWhoDoesNotTakeTheAnswer() {
    long sku = GatewayStage.shared().newSku();
    String body = GatewayStage.product(PurchasePolicy.LIMITED, 5, 100);

    GatewayAnswer answer =
        gateway.send(
            gateway
                .admin("/admin/v1/skus/" + sku)
                .header("Authorization", TestGateway.operator())
                .header("Content-Type", "application/json")
                .header("Accept", "text/html")
                .PUT(BodyPublishers.ofString(body)));

    assertThat(answer.status()).isEqualTo(406);
    assertThat(gateway.adminGet("/admin/v1/skus/" + sku).code()).isEqualTo("UNKNOWN_SKU");
  }

  @Test
  void takesNothingButJson() {
    GatewayAnswer answer =
        gateway.send(
            gateway
                .admin("/admin/v1/skus/1001")
                .header("Authorization", TestGateway.operator())
                .header("Content-Type", "text/plain")
                .PUT(BodyPublishers.ofString("{}")));

    assertThat(answer.status()).isEqualTo(415);
    assertThat(answer.code()).isEqualTo("UNSUPPORTED_MEDIA_TYPE");
  }

  @Test
  void readsNoMoreOfABodyThanAllowed() { // facts.md "Request bodies": no default limits JSON
    String tenMegabytes = "\"" + "x".repeat(10 * 1024 * 1024) + "\"";

    GatewayAnswer declared = gateway.operate("PUT", "/admin/v1/skus/1001", tenMegabytes);
    assertThat(declared.status()).isEqualTo(413);
    assertThat(declared.code()).isEqualTo("PAYLOAD_TOO_LARGE");
  }

  @Test
  void readsNoMoreOfAChunkedBodyThanAllowed() {
    byte[] chunk = "x".repeat(20_000).getBytes(StandardCharsets.US_ASCII);

    GatewayAnswer chunked =
        gateway.send(
            gateway
                .admin("/admin/v1/skus/1001")
                .header("Authorization", TestGateway.operator())
                .header("Content-Type", "application/json")
                .PUT(
                    BodyPublishers.fromPublisher(
                        java.net.http.HttpRequest.BodyPublishers.ofByteArray(chunk))));

    assertThat(chunked.status()).isEqualTo(413);
  }

  @Test
  void sendsSecurityHeadersWithEveryAnswer() {
    for (GatewayAnswer answer :
        new GatewayAnswer[] {
          gateway.send(gateway.shop("/api/v1/openapi.yaml")),
          gateway.get(7, "/api/v1/orders"),
          gateway.get(7, "/nothing"),
          gateway.adminGet("/admin/v1/skus/987654321")
        }) {
      assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(answer.header("X-Frame-Options")).isEqualTo("DENY");
      assertThat(answer.header("Referrer-Policy")).isEqualTo("no-referrer");
      assertThat(answer.header("Content-Security-Policy")).contains("default-src 'none'");
      assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
    }
  }

  @Test
  void namesTheKindOfTokenThatItWants() {
    assertThat(gateway.send(gateway.shop("/api/v1/orders")).header("WWW-Authenticate"))
        .isEqualTo("Bearer");
  }

  /** A token of the other role is refused, too. */
  @Test
  void everyAddressButTheOpenOnesWantsATokenOfItsRole() {
    Set<String> open = new TreeSet<>();
    gateway
        .bean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class)
        .getHandlerMethods()
        .keySet()
        .forEach(
            mapping -> {
              for (PathPattern pattern : mapping.getPatternsCondition().getPatterns()) {
                for (RequestMethod method : mapping.getMethodsCondition().getMethods()) {
                  if (!wantsATokenOfItsRole(method.name(), pattern.getPatternString())) {
                    open.add(method + " " + pattern);
                  }
                }
              }
            });

    assertThat(open)
        .containsExactly(
            "GET /api/v1/health",
            "GET /api/v1/openapi.yaml",
            "GET /api/v1/skus",
            "GET /api/v1/skus/{sku}",
            "POST /admin/v1/demo/token",
            "POST /api/v1/demo/token");
  }

  private static boolean wantsATokenOfItsRole(String method, String pattern) {
    String path = pattern.replaceAll("[{][^}]*}", "1");
    boolean isOfOperators = path.matches("/admin/.*|/api/v1/metrics/.*|/api/v1/health");
    String other = isOfOperators ? TestGateway.shopper(7) : TestGateway.operator();
    Supplier<HttpRequest.Builder> request =
        () ->
            (isOfOperators ? gateway.admin(path) : gateway.shop(path))
                .method(method, BodyPublishers.noBody());
    return gateway.send(request.get()).code().equals("UNAUTHORIZED")
        && gateway.send(request.get().header("Authorization", other)).code().equals("FORBIDDEN");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bearer nonsense", "Basic b2xnYTpwdw==", "Bearer a.b.c", "Bearer "})
  void believesNoTokenThatItCannotVerify(String authorization) {
    assertThat(
            gateway
                .send(gateway.shop("/api/v1/orders/12345").header("Authorization", authorization))
                .status())
        .isEqualTo(401);
    assertThat(
            gateway
                .send(gateway.admin("/admin/v1/skus/1001").header("Authorization", authorization))
                .status())
        .isEqualTo(401);
  }
}
