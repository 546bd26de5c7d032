package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Compares the OpenAPI descriptions with the gateway's real answers. */
@ExtendWith(TestServers.class)
class OpenApiIT {

  private static final JsonMapper JSON = JsonMapper.shared();

  /** Largest integer that is exact as a double. */
  private static final double MAX_EXACT = (1L << 53) - 1;

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();
  private static final JsonNode shopper = parse(gateway.send(gateway.shop("/api/v1/openapi.yaml")));
  private static final JsonNode admin = parse(gateway.adminGet("/admin/v1/openapi.yaml"));

  /** A request with its answer, and the described operation that it is an example of. */
  private record Example(
      JsonNode api, String method, String path, int status, GatewayAnswer answer) {}

  @Test
  void describesEveryAddressThatExistsAndNoOther() {
    TreeSet<String> described = new TreeSet<>();
    for (JsonNode api : List.of(shopper, admin)) {
      api.path("paths")
          .propertyStream()
          .forEach(
              path ->
                  path.getValue()
                      .propertyNames()
                      .forEach(
                          method -> {
                            if (!method.equals("parameters")) {
                              described.add(
                                  method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey());
                            }
                          }));
    }
    TreeSet<String> routed = new TreeSet<>();
    gateway
        .bean("requestMappingHandlerMapping", RequestMappingHandlerMapping.class)
        .getHandlerMethods()
        .keySet()
        .forEach(
            mapping ->
                mapping
                    .getPatternsCondition()
                    .getPatterns()
                    .forEach(
                        pattern ->
                            mapping
                                .getMethodsCondition()
                                .getMethods()
                                .forEach(method -> routed.add(method + " " + pattern))));
    routed.add("POST /api/v1/skus/{sku}/orders"); // not in WebFlux; the status is in both

    assertThat(described).isEqualTo(routed);
  }

  @Test
  void answersAsDescribed() {
    examples().forEach(OpenApiIT::assertDescribed);
  }

  private static void assertDescribed(Example example) {
    GatewayAnswer answer = example.answer();
    String what = example.method() + " " + example.path() + ": " + answer;
    assertThat(answer.status()).as(what).isEqualTo(example.status());
    JsonNode response = response(example);
    assertThat(response.isMissingNode()).as("not described: " + what).isFalse();
    String type = answer.header("Content-Type").replaceAll(";.*", "");
    JsonNode content = response.path("content");
    assertThat(content.has(type)).as("no " + type + " in " + what).isTrue();
    JsonNode schema = content.path(type).path("schema");
    if (type.endsWith("json") && !schema.isMissingNode()) {
      assertThat(errors(example.api(), schema, answer.body())).as(what).isEmpty();
    }
    if (type.endsWith("json")) {
      assertThat(withoutExactNumber(JSON.readTree(answer.body()))).as(what).isEmpty();
    }
  }

  /** Numbers that a browser changes when it reads them; users of this test have ids above 2^53. */
  private static List<JsonNode> withoutExactNumber(JsonNode tree) {
    return all(tree)
        .filter(node -> node.isIntegralNumber() && Math.abs(node.asDouble()) > MAX_EXACT)
        .toList();
  }

  private static Stream<JsonNode> all(JsonNode tree) {
    return Stream.concat(Stream.of(tree), tree.valueStream().flatMap(OpenApiIT::all));
  }

  @Test
  void describesEveryIdAsTextOrAsANumberThatABrowserReadsExactly() {
    List<String> numbers = new ArrayList<>();
    for (JsonNode api : List.of(shopper, admin)) {
      all(api).forEach(node -> numbers.addAll(unboundedIds(node)));
    }
    assertThat(numbers).isEmpty();
  }

  private static List<String> unboundedIds(JsonNode node) {
    Stream<Map.Entry<String, JsonNode>> properties = node.path("properties").propertyStream();
    Stream<Map.Entry<String, JsonNode>> parameter =
        node.has("in")
            ? Stream.of(Map.entry(node.path("name").asString(), node.path("schema")))
            : Stream.empty();
    return Stream.concat(properties, parameter)
        .filter(one -> one.getKey().matches("id|sku|next|after|cursor|.*Id"))
        .filter(one -> one.getValue().path("type").toString().contains("integer"))
        .filter(one -> one.getValue().path("maximum").asDouble(Double.MAX_VALUE) > MAX_EXACT)
        .map(one -> one.getKey() + ": " + one.getValue())
        .toList();
  }

  private static JsonNode response(Example example) {
    JsonNode operation =
        example
            .api()
            .path("paths")
            .path(example.path())
            .path(example.method().toLowerCase(java.util.Locale.ROOT));
    JsonNode response = operation.path("responses").path(Integer.toString(example.status()));
    return response.has("$ref")
        ? example.api().at(response.path("$ref").stringValue().substring(1))
        : response;
  }

  private List<Example> examples() {
    List<Example> all = new ArrayList<>();
    all.addAll(productExamples());
    all.addAll(orderExamples());
    all.addAll(strongSaleExamples());
    all.addAll(adminExamples());
    return all;
  }

  private List<Example> productExamples() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long closed = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    gateway.operate("POST", GatewayStage.admin(closed) + "/close", null);
    String page = "/api/v1/skus/{sku}";
    String orders = page + "/orders";
    long user = stage.newUser();
    return List.of(
        shop("GET", "/api/v1/skus", 200, gateway.send(gateway.shop("/api/v1/skus"))),
        shop("POST", "/api/v1/demo/token", 404, demoToken()),
        shop("GET", page, 200, gateway.send(gateway.shop("/api/v1/skus/" + sku))),
        shop("GET", page, 400, gateway.send(gateway.shop("/api/v1/skus/x"))),
        shop("GET", page, 404, gateway.send(gateway.shop("/api/v1/skus/987654321"))),
        shop(
            "GET", "/api/v1/openapi.yaml", 200, gateway.send(gateway.shop("/api/v1/openapi.yaml"))),
        shop("POST", orders, 202, gateway.buy(user, sku, 1, "key-of-example")),
        shop("POST", orders, 422, gateway.buy(user, sku, 2, "key-of-example")),
        shop("POST", orders, 409, gateway.buy(user, sku, 6, "key-of-greed")),
        shop("POST", orders, 409, gateway.buy(user, closed, 1, "key-too-late")),
        shop("POST", orders, 404, gateway.buy(user, 987_654_321, 1, "key-unknown")),
        shop("POST", orders, 400, gateway.buy(user, sku, 0, "key-of-nothing")),
        shop(
            "POST",
            orders,
            401,
            gateway.send(
                gateway
                    .shop("/api/v1/skus/" + sku + "/orders")
                    .POST(BodyPublishers.ofString("{\"quantity\":1}")))),
        shop(
            "POST",
            orders,
            403,
            gateway.send(
                gateway
                    .shop("/api/v1/skus/" + sku + "/orders")
                    .header("Authorization", TestGateway.operator())
                    .POST(BodyPublishers.ofString("{\"quantity\":1}")))),
        shop(
            "POST",
            orders,
            413,
            gateway.call(user, "POST", "/api/v1/skus/" + sku + "/orders", "x".repeat(50_000))));
  }

  /** Demo mode is off. */
  private static GatewayAnswer demoToken() {
    return gateway.send(
        gateway.shop("/api/v1/demo/token").POST(BodyPublishers.ofString("{\"userId\":7}")));
  }

  private List<Example> orderExamples() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed queued = stage.buy(sku, 1);
    Placed confirmed = stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
    Placed rejected = stage.store(sku, confirmed.user(), 1, 2, "REJECTED", "SOLD_OUT");
    Placed other = stage.store(sku, confirmed.user(), 1, 3, "CONFIRMED", null);
    stage.update("INSERT INTO user_quota VALUES (?, ?, 2, 5)", confirmed.user(), sku);
    String list = "/api/v1/orders";
    String one = list + "/{id}";
    String pay = one + "/payment";
    String watch = one + "/events";
    return List.of(
        shop("GET", list, 200, gateway.get(confirmed.user(), list)),
        shop("GET", list, 200, gateway.get(confirmed.user(), list + "?limit=1")),
        shop("GET", list, 400, gateway.get(7, list + "?limit=x")),
        shop("GET", list, 401, gateway.send(gateway.shop(list))),
        shop("GET", list, 403, asOperator(list)),
        shop("GET", one, 200, show(queued, "")),
        shop("GET", one, 200, show(confirmed, "")),
        shop("GET", one, 200, show(rejected, "")),
        shop("GET", one, 404, gateway.get(7, list + "/1")),
        shop("GET", one, 401, gateway.send(gateway.shop(list + "/1"))),
        shop("GET", one, 403, asOperator(list + "/1")),
        shop("GET", watch, 200, show(rejected, "/events")),
        shop("GET", watch, 404, gateway.get(7, list + "/1/events")),
        shop("GET", watch, 401, gateway.send(gateway.shop(list + "/1/events"))),
        shop("GET", watch, 403, asOperator(list + "/1/events")),
        shop("POST", pay, 200, act(confirmed, "POST", "/payment")),
        shop("POST", pay, 409, act(queued, "POST", "/payment")),
        shop("POST", pay, 404, gateway.call(7, "POST", list + "/1/payment", null)),
        shop("DELETE", one, 200, act(other, "DELETE", "")),
        shop("DELETE", one, 409, act(confirmed, "DELETE", "")),
        shop("DELETE", one, 404, gateway.call(7, "DELETE", list + "/1", null)));
  }

  private List<Example> strongSaleExamples() {
    long sku = stage.onStrongSale();
    long user = stage.newUser();
    String page = "/api/v1/skus/{sku}";
    String orders = page + "/orders";
    String one = "/api/v1/orders/{id}";
    GatewayAnswer bought = gateway.buy(user, sku, 1, "key-of-example");
    Placed order = new Placed(OrderId.parse(bought.text("orderId")), user, sku, "key-of-example");
    return List.of(
        shop("GET", page, 200, gateway.send(gateway.shop("/api/v1/skus/" + sku))),
        shop("POST", orders, 201, bought),
        shop("GET", one, 200, show(order, "")),
        shop("GET", "/api/v1/orders", 200, gateway.get(user, "/api/v1/orders")),
        shop("POST", one + "/payment", 200, act(order, "POST", "/payment")),
        shop("POST", orders, 201, gateway.buy(user, sku, 1, "key-of-example")),
        shop("POST", orders, 422, gateway.buy(user, sku, 2, "key-of-example")),
        shop("POST", orders, 409, gateway.buy(user, sku, 5, "key-of-greed")),
        shop("DELETE", one, 409, act(order, "DELETE", "")),
        ops("POST", "/admin/v1/skus/{sku}/pause", 200, pause(sku)));
  }

  private static GatewayAnswer pause(long sku) {
    return gateway.operate("POST", GatewayStage.admin(sku) + "/pause", null);
  }

  private List<Example> adminExamples() {
    List<Example> all = new ArrayList<>();
    String one = "/admin/v1/skus/{sku}";
    long sku = stage.newSku();
    String path = GatewayStage.admin(sku);
    String body = GatewayStage.product(PurchasePolicy.LIMITED, 5, 100);
    all.add(
        ops(
            "POST",
            "/admin/v1/demo/token",
            404,
            gateway.send(gateway.admin("/admin/v1/demo/token").POST(BodyPublishers.noBody()))));
    all.add(ops("PUT", one, 201, gateway.operate("PUT", path, body)));
    all.add(ops("PUT", one, 200, gateway.operate("PUT", path, body)));
    all.add(ops("PUT", one, 400, gateway.operate("PUT", path, "{}")));
    all.add(ops("PUT", one, 413, gateway.operate("PUT", path, "x".repeat(50_000))));
    all.add(
        ops(
            "PUT",
            one,
            415,
            gateway.send(
                gateway
                    .admin(path)
                    .header("Authorization", TestGateway.operator())
                    .header("Content-Type", "text/plain")
                    .PUT(BodyPublishers.ofString(body)))));
    all.add(ops("GET", one, 200, gateway.adminGet(path)));
    all.add(ops("GET", one, 400, gateway.adminGet("/admin/v1/skus/x")));
    all.add(ops("GET", one, 401, gateway.send(gateway.admin(path))));
    all.add(
        ops(
            "GET",
            one,
            403,
            gateway.send(gateway.admin(path).header("Authorization", TestGateway.shopper(7)))));
    all.add(ops("GET", one, 404, gateway.adminGet("/admin/v1/skus/987654321")));
    for (String action : List.of("open", "preheat", "open", "pause", "resume", "close")) {
      int status =
          all.stream().noneMatch(e -> e.path().endsWith("/preheat")) && action.equals("open")
              ? 409
              : 200;
      all.add(
          ops(
              "POST",
              one + "/" + action,
              status,
              gateway.operate("POST", path + "/" + action, null)));
      all.add(
          ops(
              "POST",
              one + "/" + action,
              404,
              gateway.operate("POST", "/admin/v1/skus/987654321/" + action, null)));
    }
    all.add(ops("PUT", one, 409, gateway.operate("PUT", path, body.replace("1999", "5"))));
    all.add(ops("POST", one + "/preheat", 409, preheatWhileOpen()));
    all.add(ops("POST", one + "/stock", 400, gateway.operate("POST", path + "/stock", "{}")));
    all.add(ops("POST", one + "/stock", 200, addStock()));
    all.addAll(ledgerExamples());
    all.addAll(reconciliationExamples());
    all.addAll(fallbackExamples());
    String letters = "/admin/v1/dead-letters";
    long letter = deadLetter();
    all.add(ops("GET", letters, 200, gateway.adminGet(letters)));
    all.add(ops("GET", letters + "/{id}", 200, gateway.adminGet(letters + "/" + letter)));
    all.add(ops("GET", letters, 200, gateway.adminGet(letters + "?limit=1&state=OPEN&after=7")));
    all.add(ops("GET", letters, 400, gateway.adminGet(letters + "?limit=0")));
    all.add(ops("GET", letters, 400, gateway.adminGet(letters + "?after=x")));
    all.add(ops("GET", "/admin/v1/skus", 200, gateway.adminGet("/admin/v1/skus")));
    all.add(ops("GET", "/admin/v1/skus", 401, gateway.send(gateway.admin("/admin/v1/skus"))));
    all.add(ops("GET", "/admin/v1/events", 401, gateway.send(gateway.admin("/admin/v1/events"))));
    all.add(ops("GET", letters + "/{id}", 404, gateway.adminGet(letters + "/987654321")));
    all.add(ops("GET", letters + "/{id}", 400, gateway.adminGet(letters + "/x")));
    all.add(
        ops(
            "POST",
            letters + "/{id}/replay",
            404,
            gateway.operate("POST", letters + "/987654321/replay", null)));
    all.add(
        ops(
            "POST",
            letters + "/{id}/discard",
            400,
            gateway.operate("POST", letters + "/1/discard", "{}")));
    String charges = "/admin/v1/unexplained-charges";
    stage.update(
        "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
            + " amount_cents, detail) VALUES (UNHEX(SHA2(UUID(), 256)), 'SECOND_CHARGE',"
            + " 'CHARGED', 'ch-1', 4711, 9900, '')");
    GatewayAnswer open = gateway.adminGet(charges + "?state=OPEN&limit=1");
    String close = charges + "/" + open.json().at("/charges/0/id").longValue() + "/close";
    String done = "{\"reason\":\"a test\"}";
    all.add(ops("GET", charges, 200, open));
    all.add(ops("GET", charges, 400, gateway.adminGet(charges + "?limit=0")));
    all.add(ops("POST", charges + "/{id}/close", 200, gateway.operate("POST", close, done)));
    all.add(ops("POST", charges + "/{id}/close", 400, gateway.operate("POST", close, "{}")));
    all.add(
        ops(
            "POST",
            charges + "/{id}/close",
            404,
            gateway.operate("POST", charges + "/987654321/close", done)));
    String audit = GatewayStage.admin(sku) + "/audit";
    all.add(ops("POST", "/admin/v1/skus/{sku}/audit", 200, gateway.operate("POST", audit, null)));
    all.add(
        ops(
            "POST",
            "/admin/v1/skus/{sku}/audit",
            404,
            gateway.operate("POST", GatewayStage.admin(987654321) + "/audit", null)));
    all.add(ops("GET", "/admin/v1/audits", 200, gateway.adminGet("/admin/v1/audits")));
    all.add(ops("GET", "/admin/v1/audits", 400, gateway.adminGet("/admin/v1/audits?day=today")));
    all.add(ops("GET", "/admin/v1/openapi.yaml", 200, gateway.adminGet("/admin/v1/openapi.yaml")));
    return all;
  }

  private List<Example> ledgerExamples() {
    String ledger = "/admin/v1/skus/{sku}/ledger";
    String lanes = "/admin/v1/lanes";
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    stage.buy(sku, 2);
    String registry = RedisKeys.lanes(Partition.ofSku(sku));
    stage.redis().zadd(registry, Map.of("a-relay:3:token", -1.0, "a-relay:3:life", 4e12));
    String summary = "/api/v1/metrics/summary";
    return List.of(
        ops("GET", summary, 200, gateway.adminGet(summary)),
        ops("GET", summary, 401, gateway.send(gateway.admin(summary))),
        ops("GET", "/api/v1/health", 200, gateway.send(gateway.admin("/api/v1/health"))),
        ops("GET", ledger, 200, gateway.adminGet(GatewayStage.admin(sku) + "/ledger")),
        ops("GET", ledger, 400, gateway.adminGet("/admin/v1/skus/x/ledger")),
        ops("GET", ledger, 401, gateway.send(gateway.admin(GatewayStage.admin(sku) + "/ledger"))),
        ops("GET", ledger, 404, gateway.adminGet("/admin/v1/skus/987654321/ledger")),
        ops("GET", lanes, 200, gateway.adminGet(lanes)),
        ops("GET", lanes, 401, gateway.send(gateway.admin(lanes))));
  }

  private static List<Example> reconciliationExamples() {
    String one = "/admin/v1/skus/{sku}/reconciliation";
    String path =
        GatewayStage.admin(stage.onSale(PurchasePolicy.LIMITED, 5, 100)) + "/reconciliation";
    return List.of(
        ops("POST", one, 200, gateway.operate("POST", path, "{\"dryRun\":true}")),
        ops("POST", one, 400, gateway.operate("POST", path, "{}")),
        ops(
            "POST",
            one,
            404,
            gateway.operate(
                "POST", "/admin/v1/skus/987654321/reconciliation", "{\"dryRun\":true}")),
        ops("GET", one, 200, gateway.adminGet(path)));
  }

  /** It is switched off. */
  private static List<Example> fallbackExamples() {
    String path = "/admin/v1/fallback";
    String release = "/release-reserve";
    String sku = GatewayStage.admin(stage.onSale(PurchasePolicy.LIMITED, 5, 100));
    String settings = "{\"failurePercent\":50,\"failuresPerSecond\":3,\"reservePercent\":100}";
    return List.of(
        ops("GET", path, 200, gateway.adminGet(path)),
        ops("GET", path, 401, gateway.send(gateway.admin(path))),
        ops("POST", path + "/enter", 409, gateway.operate("POST", path + "/enter", null)),
        ops("POST", path + "/leave", 409, gateway.operate("POST", path + "/leave", null)),
        ops("PUT", path + "/settings", 200, gateway.operate("PUT", path + "/settings", settings)),
        ops("PUT", path + "/settings", 400, gateway.operate("PUT", path + "/settings", "{}")),
        ops(
            "POST",
            "/admin/v1/skus/{sku}" + release,
            404,
            gateway.operate("POST", "/admin/v1/skus/987654321" + release, null)),
        ops(
            "POST",
            "/admin/v1/skus/{sku}" + release,
            409,
            gateway.operate("POST", sku + release, null)));
  }

  private static long deadLetter() {
    long user = stage.newUser();
    stage
        .mysql()
        .sql(
            "INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, reason,"
                + " detail, attempts, first_failed_at, last_failed_at) VALUES (?, 1, ?, '{}',"
                + " UNHEX(SHA2(UUID(), 256)), 'UNKNOWN_SKU', '', 1, UTC_TIMESTAMP(3),"
                + " UTC_TIMESTAMP(3))")
        .params(user, user)
        .update();
    return stage
        .mysql()
        .sql("SELECT id FROM dead_letter WHERE user_id = ?")
        .param(user)
        .query(Long.class)
        .single();
  }

  private static GatewayAnswer preheatWhileOpen() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    return gateway.operate("POST", GatewayStage.admin(sku) + "/preheat", null);
  }

  private static GatewayAnswer addStock() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    return gateway.send(
        gateway
            .admin(GatewayStage.admin(sku) + "/stock")
            .header("Authorization", TestGateway.operator())
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "key-of-change")
            .POST(BodyPublishers.ofString("{\"delta\":5,\"reason\":\"more\"}")));
  }

  private static GatewayAnswer show(Placed order, String rest) {
    return gateway.get(order.user(), "/api/v1/orders/" + order.id() + rest);
  }

  private static GatewayAnswer act(Placed order, String method, String rest) {
    return gateway.call(order.user(), method, "/api/v1/orders/" + order.id() + rest, null);
  }

  private static GatewayAnswer asOperator(String path) {
    return gateway.send(gateway.shop(path).header("Authorization", TestGateway.operator()));
  }

  private static Example shop(String method, String path, int status, GatewayAnswer answer) {
    return new Example(shopper, method, path, status, answer);
  }

  private static Example ops(String method, String path, int status, GatewayAnswer answer) {
    return new Example(admin, method, path, status, answer);
  }

  /** Validates against the schema, extended by the components to which it refers. */
  private static List<String> errors(JsonNode api, JsonNode schema, @Nullable String body) {
    var alone = JSON.createObjectNode();
    alone.setAll((tools.jackson.databind.node.ObjectNode) schema);
    alone.set("components", api.path("components"));
    Schema compiled =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
            .getSchema(alone.toString(), InputFormat.JSON);
    return Stream.ofNullable(body)
        .flatMap(
            text ->
                compiled
                    .validate(
                        text,
                        InputFormat.JSON,
                        context ->
                            context.executionConfig(config -> config.formatAssertionsEnabled(true)))
                    .stream())
        .map(Error::toString)
        .toList();
  }

  private static JsonNode parse(GatewayAnswer answer) {
    assertThat(answer.status()).isEqualTo(200);
    Object tree = new Yaml().load(answer.body());
    return JSON.valueToTree(tree);
  }
}
