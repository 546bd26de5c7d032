package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How pages are served, and who gets a demo token. */
@ExtendWith(TestServers.class)
class PagesIT {

  private static final Pattern LOADED =
      Pattern.compile("(?:href|src)=\"((?:ops/)?assets/[^\"]+)\"");

  private static TestGateway gateway;
  @AutoClose private static TestGateway demo;

  @BeforeAll
  static void start() {
    GatewayStage stage = GatewayStage.shared();
    gateway = stage.gateway();
    demo =
        TestGateway.start(
            stage.redisDatabase(),
            stage.mysqlDatabase(),
            "http://127.0.0.1:1",
            "seckill.demo.enabled=true",
            "server.address=127.0.0.1",
            "seckill.admin.address=127.0.0.1",
            "seckill.security.issuer=demo-shop",
            "seckill.security.audience=seckill");
  }

  @Test
  void servesTheShopPageToAnyoneUnderAStrictPolicy() {
    GatewayAnswer page = gateway.send(gateway.shop("/"));

    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Type")).isEqualTo("text/html;charset=UTF-8");
    assertThat(page.header("Content-Security-Policy"))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(page.header("X-Frame-Options")).isEqualTo("DENY");
    assertThat(page.header("X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(page.header("Referrer-Policy")).isEqualTo("no-referrer");
    assertThat(page.header("Cache-Control")).isEqualTo("no-cache");
    assertThat(page.body()).contains("data-demo=\"off\"").doesNotContain("@", "style=", "onclick=");
  }

  @Test
  void letsBrowsersKeepWhatThePageLoads() {
    List<String> loaded = loaded(gateway.send(gateway.shop("/")).body());

    assertThat(loaded).hasSizeGreaterThan(5);
    for (String address : loaded) {
      GatewayAnswer file = gateway.send(gateway.shop("/" + address));
      assertThat(file.status()).as(address).isEqualTo(200);
      assertThat(file.header("Cache-Control")).contains("max-age=31536000", "immutable");
      assertThat(file.header("X-Content-Type-Options")).isEqualTo("nosniff");
    }
  }

  @Test
  void servesTheOperationsPageOnTheAdminPortOnly() {
    GatewayAnswer page = gateway.send(gateway.admin("/ops"));

    assertThat(page.status()).isEqualTo(200);
    assertThat(page.header("Content-Security-Policy")).doesNotContain("unsafe");
    assertThat(page.header("X-Frame-Options")).isEqualTo("DENY");
    List<String> loaded = loaded(page.body());
    assertThat(loaded).hasSizeGreaterThan(5);
    for (String address : loaded) {
      assertThat(gateway.send(gateway.admin("/" + address)).status()).as(address).isEqualTo(200);
      assertThat(gateway.send(gateway.shop("/" + address)).status()).as(address).isEqualTo(404);
    }
  }

  @Test
  void sendsNothingAgainThatTheBrowserHas() {
    GatewayAnswer first = gateway.send(gateway.shop("/"));
    GatewayAnswer again =
        gateway.send(gateway.shop("/").header("If-None-Match", first.header("ETag")));

    assertThat(again.status()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(again.header("Content-Security-Policy"))
        .isEqualTo(first.header("Content-Security-Policy"));
    assertThat(again.header("Cache-Control")).isEqualTo("no-cache");
  }

  @Test
  void compressesForThoseWhoReadIt() {
    GatewayAnswer plain = gateway.send(gateway.shop("/"));
    GatewayAnswer packed = gateway.send(gateway.shop("/").header("Accept-Encoding", "br, gzip"));

    assertThat(plain.header("Content-Encoding")).isEmpty();
    assertThat(packed.header("Content-Encoding")).isEqualTo("gzip");
    assertThat(packed.header("Vary")).isEqualTo("Accept-Encoding");
    assertThat(length(packed)).isLessThan(length(plain) / 2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip;q=0", "br, GZIP ; q=0.000, identity", "identity", "br"})
  void sendsNoGzipToThoseWhoRefuseIt(String accepted) {
    GatewayAnswer page = gateway.send(gateway.shop("/").header("Accept-Encoding", accepted));

    assertThat(page.header("Content-Encoding")).isEmpty();
    assertThat(page.header("Vary")).isEqualTo("Accept-Encoding");
    assertThat(page.body()).contains("<html");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip;q=0.5", "br;q=0, gzip", "gzip;q=1, br;q=0"})
  void compressesWhateverTheWeight(String accepted) {
    GatewayAnswer page = gateway.send(gateway.shop("/").header("Accept-Encoding", accepted));

    assertThat(page.header("Content-Encoding")).isEqualTo("gzip");
  }

  @Test
  void servesTheCurrentFileAtTheAddressOfAnOldVersion() {
    GatewayAnswer file = gateway.send(gateway.shop("/assets/0/shop.js"));

    assertThat(file.status()).isEqualTo(200);
    assertThat(file.header("Content-Type")).isEqualTo("text/javascript;charset=UTF-8");
    assertThat(file.header("Cache-Control")).isEqualTo("no-cache");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/assets/x/nothing.js",
        "/assets/x/..%2f..%2fapplication.yml",
        "/assets/x/shop.html",
        "/assets/shop.js"
      })
  void servesNothingElse(String path) {
    assertThat(gateway.send(gateway.shop(path)).status()).isIn(400, 404);
  }

  @Test
  void handsOutNoTokenUnlessInDemoMode() {
    GatewayAnswer shopper = gateway.send(post(gateway, "/api/v1/demo/token", "{\"userId\":7}"));
    GatewayAnswer operator =
        gateway.send(gateway.admin("/admin/v1/demo/token").POST(BodyPublishers.noBody()));

    assertThat(shopper.code()).isEqualTo("NOT_FOUND");
    assertThat(operator.code()).isEqualTo("NOT_FOUND");
  }

  @Test
  void handsOutTokensThatHoldInDemoMode() {
    String shopper = demo.send(post(demo, "/api/v1/demo/token", "{\"userId\":7}")).text("token");
    String operator =
        demo.send(demo.admin("/admin/v1/demo/token").POST(BodyPublishers.noBody())).text("token");

    assertThat(
            demo.send(demo.shop("/api/v1/orders/x").header("Authorization", "Bearer " + shopper))
                .code())
        .isEqualTo("UNKNOWN_ORDER");
    assertThat(
            demo.send(
                    demo.admin("/admin/v1/openapi.yaml")
                        .header("Authorization", "Bearer " + operator))
                .status())
        .isEqualTo(200);
    assertThat(demo.send(demo.shop("/")).body()).contains("data-demo=\"on\"");
  }

  @ParameterizedTest
  @CsvSource({"localhost, 200", "evil.example, 404"})
  void handsOutTokensOnlyToThoseWhoNameThisMachine(String host, int status) {
    String post =
        "POST %s HTTP/1.1\r\nHost: %s:8080\r\nContent-Type: application/json\r\n"
            + "Content-Length: %d\r\n\r\n%s";
    String body = "{\"userId\":7}";
    try (RawConnection shopper = new RawConnection(demo.shopPort());
        RawConnection operator = new RawConnection(demo.adminPort())) {
      shopper.send(post.formatted("/api/v1/demo/token", host, body.length(), body));
      operator.send(post.formatted("/admin/v1/demo/token", host, 0, ""));

      assertThat(shopper.answer()).startsWith("HTTP/1.1 " + status + " ");
      assertThat(operator.answer()).startsWith("HTTP/1.1 " + status + " ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{}", "{\"userId\":0}", "{\"userId\":\"7\"}", "{\"userId\":1e30}"})
  void handsNoTokenToNobody(String body) {
    assertThat(demo.send(post(demo, "/api/v1/demo/token", body)).code())
        .isEqualTo("INVALID_REQUEST");
  }

  private static java.net.http.HttpRequest.Builder post(TestGateway to, String path, String body) {
    return to.shop(path)
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body));
  }

  private static int length(GatewayAnswer answer) {
    return Integer.parseInt(answer.header("Content-Length"));
  }

  private static List<String> loaded(String html) {
    Matcher matcher = LOADED.matcher(html);
    return matcher.results().map(found -> found.group(1)).toList();
  }
}
