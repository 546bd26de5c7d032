package io.seckill.gateway.web;

import static java.util.Comparator.comparing;
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
import io.seckill.common.sale.Shards;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.TestServers;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

  /** A minute of snapshots. */
  private static final int MOST_EVENTS = 30;

  private static final String AUTHORIZATION = "Authorization";
  private static final String OPERATOR = TestGateway.operator();

  private static final GatewayStage stage = GatewayStage.shared();
  private static final TestGateway gateway = stage.gateway();
  private static final JsonNode shopper = parse(gateway.send(gateway.shop("/api/v1/openapi.yaml")));
  private static final JsonNode admin = parse(gateway.adminGet("/admin/v1/openapi.yaml"));

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
                              described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey());
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
  void sendsTheWholeDescriptionForEveryRange() {
    String path = "/api/v1/openapi.yaml";
    GatewayAnswer whole = gateway.send(gateway.shop(path));
    String hundred =
        IntStream.range(0, 100).mapToObj(i -> i + "-" + i).collect(Collectors.joining(","));

    assertThat(whole.header("Content-Type")).isEqualTo("application/yaml");
    for (String range : List.of("99999999-", hundred)) {
      GatewayAnswer answer = gateway.send(gateway.shop(path).header("Range", "bytes=" + range));

      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.header("Accept-Ranges")).isEmpty();
      assertThat(answer.header("Content-Length")).isEqualTo(whole.header("Content-Length"));
      assertThat(answer.body()).isEqualTo(whole.body());
    }
  }

  /** Asserts the status, and that the operation of the request describes this answer. */
  private static void is(int status, GatewayAnswer answer) {
    HttpRequest request = answer.http().request();
    String what = request.method() + " " + request.uri() + ": " + answer;
    assertThat(answer.status()).as(what).isEqualTo(status);
    JsonNode api = request.uri().getPort() == gateway.adminPort() ? admin : shopper;
    JsonNode response = response(api, request, status);
    assertThat(response.isMissingNode()).as("not described: " + what).isFalse();
    String type = answer.header("Content-Type").replaceAll(";.*", "");
    JsonNode content = response.path("content");
    assertThat(content.has(type)).as("no " + type + " in " + what).isTrue();
    JsonNode schema = content.path(type).path("schema");
    if (type.endsWith("json") && !schema.isMissingNode()) {
      assertThat(errors(api, schema, answer.body())).as(what).isEmpty();
    }
    if (status == 400) {
      assertThat(answer.text("field")).as(what).isNotEmpty();
    }
    if (type.endsWith("json")) {
      assertThat(withoutExactNumber(JSON.readTree(answer.body()))).as(what).isEmpty();
    }
  }

  private static JsonNode response(JsonNode api, HttpRequest request, int status) {
    String path = request.uri().getPath();
    String described =
        api.path("paths").propertyNames().stream()
            .filter(template -> path.matches(template.replaceAll("\\{\\w+}", "[^/]+")))
            .min(comparing((String template) -> !template.equals(path)))
            .orElse("");
    JsonNode operation =
        api.path("paths").path(described).path(request.method().toLowerCase(Locale.ROOT));
    JsonNode response = operation.path("responses").path(Integer.toString(status));
    return response.has("$ref")
        ? api.at(response.path("$ref").stringValue().substring(1))
        : response;
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

  @Test
  void streamsEveryIdAsTextOrAsANumberThatABrowserReadsExactly() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed order = stage.buy(sku, 2);
    String path = "/api/v1/orders/" + order.id() + "/events";
    HttpRequest.Builder shop =
        gateway.shop(path).header(AUTHORIZATION, TestGateway.shopper(order.user()));
    HttpRequest.Builder ops =
        gateway.admin("/admin/v1/events").header(AUTHORIZATION, TestGateway.operator());

    JsonNode status = event(shop, event -> true);
    JsonNode snapshot = event(ops, event -> hasAllParts(event, sku));

    JsonNode schema = JSON.readTree("{\"$ref\":\"#/components/schemas/Order\"}");
    assertThat(errors(shopper, schema, status.toString())).isEmpty();
    for (JsonNode event : List.of(status, snapshot)) {
      assertThat(withoutExactNumber(event)).as("%s", event).isEmpty();
      assertThat(numbersOfOrdersAndUsers(event)).as("%s", event).isEmpty();
    }
  }

  /** The first event of a stream, of the next {@value #MOST_EVENTS}, that a test waits for. */
  private static JsonNode event(HttpRequest.Builder request, Predicate<JsonNode> expected)
      throws Exception {
    HttpResponse<Stream<String>> response =
        gateway.http().send(request.build(), BodyHandlers.ofLines());
    try (Stream<String> lines = response.body()) {
      return lines
          .filter(line -> line.startsWith("data:"))
          .limit(MOST_EVENTS)
          .map(line -> JSON.readTree(line.substring("data:".length())))
          .filter(expected)
          .findFirst()
          .orElseThrow();
    }
  }

  private static boolean hasAllParts(JsonNode snapshot, long sku) {
    return Stream.of("skus", "ledgers", "lanes", "stops", "fallback", "pendingWork")
            .noneMatch(part -> snapshot.path(part).isMissingNode() || snapshot.path(part).isNull())
        && snapshot.path("ledgers").valueStream().anyMatch(one -> one.path("skuId").asLong() == sku)
        && !snapshot.at("/fallback/gateways").isEmpty();
  }

  /** Ids that are not bounded as those of products are. */
  private static List<String> numbersOfOrdersAndUsers(JsonNode event) {
    return all(event)
        .flatMap(JsonNode::propertyStream)
        .filter(one -> one.getKey().matches("id|next|cursor|.*Id|user"))
        .filter(one -> !one.getKey().equals("skuId") && one.getValue().isNumber())
        .map(Object::toString)
        .toList();
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

  @Test
  void describesProductsAndPurchases() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    long closed = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    gateway.operate("POST", GatewayStage.admin(closed) + "/close", null);
    String orders = "/api/v1/skus/" + sku + "/orders";
    String body = "{\"quantity\":1}";
    long user = stage.newUser();
    is(200, gateway.send(gateway.shop("/api/v1/skus")));
    is(404, gateway.post(gateway.shop("/api/v1/demo/token"), "{\"userId\":7}")); // it is off
    is(200, GatewayAnswer.available(() -> gateway.send(gateway.shop("/api/v1/skus/" + sku))));
    is(400, gateway.send(gateway.shop("/api/v1/skus/x")));
    is(404, GatewayAnswer.available(() -> gateway.send(gateway.shop("/api/v1/skus/987654321"))));
    is(200, gateway.send(gateway.shop("/api/v1/openapi.yaml")));
    is(202, gateway.buy(user, sku, 1, "key-of-example"));
    is(422, gateway.buy(user, sku, 2, "key-of-example"));
    is(409, gateway.buy(user, sku, 6, "key-of-greed"));
    is(409, gateway.buy(user, closed, 1, "key-too-late"));
    is(404, GatewayAnswer.available(() -> gateway.buy(user, 987_654_321, 1, "key-unknown")));
    is(400, gateway.buy(user, sku, 0, "key-of-nothing"));
    is(401, gateway.post(gateway.shop(orders), body));
    is(403, gateway.post(gateway.shop(orders).header(AUTHORIZATION, OPERATOR), body));
    is(413, gateway.call(user, "POST", orders, "x".repeat(50_000)));
  }

  @Test
  void describesOrders() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed queued = stage.buy(sku, 1);
    Placed confirmed = stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
    Placed rejected = stage.store(sku, confirmed.user(), 1, 2, "REJECTED", "SOLD_OUT");
    Placed other = stage.store(sku, confirmed.user(), 1, 3, "CONFIRMED", null);
    stage.update("INSERT INTO user_quota VALUES (?, ?, 2, 5)", confirmed.user(), sku);
    String list = "/api/v1/orders";
    is(200, gateway.get(confirmed.user(), list));
    is(200, gateway.get(confirmed.user(), list + "?limit=1"));
    is(200, gateway.get(stage.newUser(), list));
    is(400, gateway.get(7, list + "?limit=x"));
    for (String path : List.of(list, list + "/1", list + "/1/events")) {
      is(401, gateway.send(gateway.shop(path)));
      is(403, gateway.send(gateway.shop(path).header(AUTHORIZATION, OPERATOR)));
    }
    is(200, show(queued, ""));
    is(200, show(confirmed, ""));
    is(200, show(rejected, ""));
    String ofSomebodyElse = list + "/" + confirmed.id(); // that an id is nowhere may be unknown
    is(404, gateway.get(7, ofSomebodyElse));
    is(200, show(rejected, "/events"));
    is(404, gateway.get(7, ofSomebodyElse + "/events"));
    is(200, act(confirmed, "POST", "/payment"));
    is(409, act(queued, "POST", "/payment"));
    is(404, gateway.call(7, "POST", ofSomebodyElse + "/payment", null));
    is(200, act(other, "DELETE", ""));
    is(409, act(confirmed, "DELETE", ""));
    is(404, gateway.call(7, "DELETE", ofSomebodyElse, null));
  }

  @Test
  void describesStrongSales() {
    long sku = stage.onStrongSale();
    long user = stage.newUser();
    GatewayAnswer bought = gateway.buy(user, sku, 1, "key-of-example");
    Placed order = new Placed(OrderId.parse(bought.text("orderId")), user, sku, "key-of-example");
    is(200, GatewayAnswer.available(() -> gateway.send(gateway.shop("/api/v1/skus/" + sku))));
    is(201, bought);
    is(200, show(order, ""));
    is(200, gateway.get(user, "/api/v1/orders"));
    is(200, act(order, "POST", "/payment"));
    is(201, gateway.buy(user, sku, 1, "key-of-example"));
    is(422, gateway.buy(user, sku, 2, "key-of-example"));
    is(409, gateway.buy(user, sku, 5, "key-of-greed"));
    is(409, act(order, "DELETE", ""));
    is(200, gateway.operate("POST", GatewayStage.admin(sku) + "/pause", null));
  }

  @Test
  void describesProductsOfOperators() {
    String unknown = GatewayStage.admin(987_654_321);
    String path = GatewayStage.admin(stage.newSku());
    String body = GatewayStage.product(PurchasePolicy.LIMITED, 5, 100);
    is(404, gateway.post(gateway.admin("/admin/v1/demo/token"), ""));
    is(201, gateway.operate("PUT", path, body));
    is(200, gateway.operate("PUT", path, body));
    is(400, gateway.operate("PUT", path, "{}"));
    HttpRequest.Builder text = gateway.admin(path).header("Content-Type", "text/plain");
    is(415, gateway.send(text.header(AUTHORIZATION, OPERATOR).PUT(BodyPublishers.ofString(body))));
    is(200, gateway.adminGet(path));
    is(400, gateway.adminGet("/admin/v1/skus/x"));
    is(401, gateway.send(gateway.admin(path)));
    is(403, gateway.send(gateway.admin(path).header(AUTHORIZATION, TestGateway.shopper(7))));
    is(404, gateway.adminGet(unknown));
    is(409, gateway.operate("POST", path + "/open", null));
    for (String action : List.of("preheat", "open", "pause", "resume", "close")) {
      is(200, gateway.operate("POST", path + "/" + action, null));
      is(404, gateway.operate("POST", unknown + "/" + action, null));
    }
    is(409, gateway.operate("PUT", path, body.replace("1999", "5")));
    is(409, preheatWhileOpen());
    is(400, gateway.operate("POST", path + "/stock", "{}"));
    is(200, addStock());
    is(200, gateway.adminGet("/admin/v1/skus"));
    is(401, gateway.send(gateway.admin("/admin/v1/skus")));
    is(401, gateway.send(gateway.admin("/admin/v1/events")));
    is(200, gateway.operate("POST", path + "/audit", null));
    is(404, gateway.operate("POST", unknown + "/audit", null));
    is(200, gateway.adminGet("/admin/v1/audits"));
    is(400, gateway.adminGet("/admin/v1/audits?day=today"));
    is(200, gateway.adminGet("/admin/v1/openapi.yaml"));
  }

  @Test
  void describesTheRefusalOfALongBodyAtEveryCallOfOperatorsThatTakesOne() {
    String body = "x".repeat(50_000);
    List<GatewayAnswer> answers =
        admin
            .path("paths")
            .propertyStream()
            .flatMap(
                path ->
                    path.getValue()
                        .propertyStream()
                        .filter(operation -> operation.getValue().has("requestBody"))
                        .map(
                            operation ->
                                gateway.operate(
                                    operation.getKey().toUpperCase(Locale.ROOT),
                                    path.getKey().replaceAll("\\{\\w+}", "7"),
                                    body)))
            .toList();

    assertThat(answers).hasSizeGreaterThan(8).allSatisfy(answer -> is(413, answer));
  }

  @Test
  void describesAnOrderThatAnOperatorLooksUp() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    Placed confirmed = stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
    Placed rejected = stage.store(sku, confirmed.user(), 1, 2, "REJECTED", "SOLD_OUT");
    stage.update(
        "INSERT INTO payment (order_id, amount_cents, state) VALUES (?, 1999, 'DECLINED')",
        confirmed.id().value());
    String path = "/admin/v1/orders/";
    GatewayAnswer found = gateway.adminGet(path + confirmed.id());
    is(200, found);
    is(200, gateway.adminGet(path + rejected.id()));
    is(404, gateway.adminGet(path + stage.buy(sku, 1).id())); // queued
    is(400, gateway.adminGet(path + "x"));
    is(401, gateway.send(gateway.admin(path + confirmed.id())));
    String shoppers = TestGateway.shopper(confirmed.user());
    is(403, gateway.send(gateway.admin(path + confirmed.id()).header(AUTHORIZATION, shoppers)));
    assertThat(found.text("userId")).isEqualTo(Long.toString(confirmed.user()));
    assertThat(found.text("paymentState")).isEqualTo("DECLINED");
  }

  @Test
  void describesDeadLettersAndCharges() {
    String letters = "/admin/v1/dead-letters";
    is(200, gateway.adminGet(letters));
    is(200, gateway.adminGet(letters + "/" + deadLetter()));
    is(200, gateway.adminGet(letters + "?limit=1&state=OPEN&after=7"));
    is(400, gateway.adminGet(letters + "?limit=0"));
    is(400, gateway.adminGet(letters + "?after=x"));
    is(404, gateway.adminGet(letters + "/987654321"));
    is(400, gateway.adminGet(letters + "/x"));
    is(404, gateway.operate("POST", letters + "/987654321/replay", null));
    is(400, gateway.operate("POST", letters + "/1/discard", "{}"));
    String charges = "/admin/v1/unexplained-charges";
    stage.update(
        "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
            + " amount_cents, detail) VALUES (UNHEX(SHA2(UUID(), 256)), 'SECOND_CHARGE',"
            + " 'CHARGED', 'ch-1', 4711, 9900, '')");
    GatewayAnswer open = gateway.adminGet(charges + "?state=OPEN&limit=1");
    String close = charges + "/" + open.json().at("/charges/0/id").longValue() + "/close";
    String done = "{\"reason\":\"a test\"}";
    is(200, open);
    is(400, gateway.adminGet(charges + "?limit=0"));
    is(200, gateway.operate("POST", close, done));
    is(400, gateway.operate("POST", close, "{}"));
    is(404, gateway.operate("POST", charges + "/987654321/close", done));
    is(404, gateway.operate("POST", letters + "/987654321/discard", done));
  }

  @Test
  void describesLedgerLanesAndReconciliation() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    stage.buy(sku, 2);
    String registry = RedisKeys.lanes(Partition.ofSku(sku));
    stage.redis().zadd(registry, Map.of("a-relay:3:token", -1.0, "a-relay:3:life", 4e12));
    String ledger = GatewayStage.admin(sku) + "/ledger";
    for (String path : List.of("/api/v1/metrics/summary", ledger, "/admin/v1/lanes")) {
      is(200, gateway.adminGet(path));
      is(401, gateway.send(gateway.admin(path)));
    }
    JsonNode summary = gateway.adminGet("/api/v1/metrics/summary").json();
    assertThat(summary.path("uptimeSeconds").isNumber()).isTrue();
    for (String figure : List.of("stored", "fallback/entered", "fallback/left")) {
      assertThat(summary.at("/consumer/" + figure).isNumber()).as("%s", summary).isTrue();
    }
    is(200, gateway.send(gateway.admin("/api/v1/health")));
    is(400, gateway.adminGet("/admin/v1/skus/x/ledger"));
    is(404, gateway.adminGet("/admin/v1/skus/987654321/ledger"));
    String path = "/reconciliation";
    String dry = "{\"dryRun\":true}";
    String one = GatewayStage.admin(stage.onSale(PurchasePolicy.LIMITED, 5, 100)) + path;
    is(200, gateway.operate("POST", one, dry));
    is(400, gateway.operate("POST", one, "{}"));
    is(404, gateway.operate("POST", "/admin/v1/skus/987654321" + path, dry));
    is(200, gateway.adminGet(one));
  }

  @Test
  void describesTheReconciliationOfASkuWithAShardThatCannotBeReconciled() {
    long sku = stage.newSku();
    String path = GatewayStage.admin(sku);
    String product = GatewayStage.product(PurchasePolicy.LIMITED, 1, 400);
    String inShards = product.replace("\"stock\"", "\"shards\":4,\"stock\"");
    gateway.operate("PUT", path, inShards).expect(201);
    gateway.operate("POST", path + "/preheat", null).expect(200);
    String bucket = RedisKeys.bucket(Shards.id(sku, 2), 0);
    stage.redis().hset(bucket, "written-by-nobody", "1");

    GatewayAnswer partly = gateway.operate("POST", path + "/reconciliation", "{\"dryRun\":true}");

    stage.redis().hdel(bucket, "written-by-nobody");
    is(200, partly);
    assertThat(partly.text("outcome")).isEqualTo("UNPROVEN");
  }

  @Test
  void describesWallets() {
    long user = stage.newUser();
    String wallet = "/admin/v1/wallets/" + user;
    String recharge = wallet + "/recharges";
    String amount = "{\"amountCents\":5000,\"reason\":\"a test\"}";
    is(201, move(recharge, "key-of-money", amount));
    is(200, move(recharge, "key-of-money", amount));
    is(422, move(recharge, "key-of-money", "{\"amountCents\":1}"));
    is(400, move(recharge, "key-of-money", "{\"amountCents\":0}"));
    is(400, gateway.operate("POST", recharge, amount)); // without a key
    is(201, move(wallet + "/adjustments", "key-of-loss", "{\"amountCents\":-1000}"));
    is(409, move(wallet + "/adjustments", "key-of-greed", "{\"amountCents\":-4001}"));
    is(404, move("/admin/v1/wallet/charges/" + user + "/refunds", "key-of-refund", amount));
    is(200, gateway.operate("PUT", wallet + "/state", "{\"state\":\"FROZEN\"}"));
    is(400, gateway.operate("PUT", wallet + "/state", "{\"state\":\"GONE\"}"));
    is(200, gateway.adminGet(wallet));
    is(200, gateway.adminGet("/admin/v1/wallets/7"));
    is(400, gateway.adminGet("/admin/v1/wallets/9223372036854775808"));
    is(200, gateway.adminGet(wallet + "/entries?limit=1"));
    is(400, gateway.adminGet(wallet + "/entries?limit=201"));
    is(401, gateway.send(gateway.admin(wallet)));
    is(403, move(recharge, "key-of-own-money", amount, TestGateway.shopper(user)));

    String own = "/api/v1/wallet";
    GatewayAnswer shown = gateway.get(user, own);
    is(200, shown);
    assertThat(shown.json().path("balanceCents").asLong()).as("own balance").isEqualTo(4000);
    GatewayAnswer newest = gateway.get(user, own + "/entries?limit=1");
    is(200, newest);
    assertThat(newest.json().at("/entries/0/kind").asString()).isEqualTo("ADJUST");
    String next = "&before=" + newest.json().path("next").asLong();
    assertThat(gateway.get(user, own + "/entries?limit=1" + next).json().at("/entries/0/kind"))
        .hasToString("\"RECHARGE\"");
    is(400, gateway.get(user, own + "/entries?before=0"));
    is(401, gateway.send(gateway.shop(own)));
    is(403, gateway.send(gateway.shop(own).header(AUTHORIZATION, OPERATOR)));
    String today = LocalDate.now(ZoneOffset.UTC).toString();
    GatewayAnswer csv = statement(user, "?from=2026-01-01&to=" + today);
    is(200, csv);
    assertThat(csv.body().lines())
        .hasSize(5)
        .anySatisfy(
            line -> assertThat(line).endsWith(",RECHARGE,5000,5000,\"key-of-money\",,\"a test\""))
        .last()
        .isEqualTo("," + today + ",CLOSING,,4000,,,");
    long past = stage.newUser();
    stage.update(
        "INSERT INTO wallet (user_id, balance_cents, seq, state) VALUES (?, 4000, 2, 'ACTIVE')",
        past);
    stage.update(
        "INSERT INTO wallet_entry VALUES"
            + " (?, 1, 'RECHARGE', 5000, 5000, 'key-of-money', NULL, NULL, '2026-01-15'),"
            + " (?, 2, 'ADJUST', -1000, 4000, 'key-of-loss', NULL, NULL, UTC_TIMESTAMP(6))",
        past,
        past);
    assertThat(statement(past, "?from=2026-01-15&to=2026-01-15").body())
        .contains("OPENING,,0,", ",RECHARGE,", "CLOSING,,5000,")
        .doesNotContain("ADJUST");
    assertThat(statement(past, "?from=2026-01-16&to=9999-12-31").body())
        .contains("OPENING,,5000,", ",ADJUST,", "CLOSING,,4000,")
        .doesNotContain("RECHARGE");
    long frequent = stage.newUser();
    stage.update(
        "INSERT INTO wallet (user_id, balance_cents, seq, state) VALUES (?, 501, 501, 'ACTIVE')",
        frequent);
    stage.update(
        "INSERT INTO wallet_entry WITH RECURSIVE n AS"
            + " (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM n WHERE seq < 501)"
            + " SELECT ?, seq, 'RECHARGE', 1, seq, CONCAT('key-', seq), NULL, NULL, '2026-01-15'"
            + " FROM n",
        frequent);
    assertThat(statement(frequent, "?from=2026-01-15&to=2026-01-15").body().lines())
        .as("two pages of order-consumer's")
        .hasSize(3 + 501);
    is(400, statement(user, "?from=2026-01-02&to=2026-01-01"));
    is(400, statement(user, ""));
    HttpRequest.Builder html = gateway.shop(own + "/entries").header("Accept", "text/html");
    is(406, gateway.send(html.header(AUTHORIZATION, TestGateway.shopper(user))));
    String check = "/admin/v1/wallet/check"; // one at a time
    is(200, GatewayAnswer.available(() -> gateway.operate("POST", check, null)));
    is(200, gateway.adminGet(check));
  }

  private static GatewayAnswer statement(long user, String query) {
    HttpRequest.Builder csv =
        gateway.shop("/api/v1/wallet/entries" + query).header("Accept", "text/csv");
    return gateway.send(csv.header(AUTHORIZATION, TestGateway.shopper(user)));
  }

  private static GatewayAnswer move(String path, String key, String body) {
    return move(path, key, body, OPERATOR);
  }

  private static GatewayAnswer move(String path, String key, String body, String caller) {
    return gateway.send(
        gateway
            .admin(path)
            .header(AUTHORIZATION, caller)
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", key)
            .POST(BodyPublishers.ofString(body)));
  }

  /** It is switched off. */
  @Test
  void describesTheFallback() {
    String path = "/admin/v1/fallback";
    String release = "/release-reserve";
    String sku = GatewayStage.admin(stage.onSale(PurchasePolicy.LIMITED, 5, 100));
    String settings = "{\"failurePercent\":50,\"failuresPerSecond\":3}";
    is(200, gateway.adminGet(path));
    is(401, gateway.send(gateway.admin(path)));
    is(409, gateway.operate("POST", path + "/enter", null));
    is(409, gateway.operate("POST", path + "/leave", null));
    is(200, gateway.operate("PUT", path + "/settings", settings));
    is(400, gateway.operate("PUT", path + "/settings", "{}"));
    is(404, gateway.operate("POST", "/admin/v1/skus/987654321" + release, null));
    is(409, gateway.operate("POST", sku + release, null));
  }

  private static long deadLetter() {
    long user = stage.newUser();
    stage.update(
        "INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, reason,"
            + " detail, attempts, first_failed_at, last_failed_at) VALUES (?, 1, ?, '{}',"
            + " UNHEX(SHA2(UUID(), 256)), 'UNKNOWN_SKU', '', 1, UTC_TIMESTAMP(3),"
            + " UTC_TIMESTAMP(3))",
        user,
        user);
    return stage.number("SELECT id FROM dead_letter WHERE user_id = ?", user);
  }

  private static GatewayAnswer preheatWhileOpen() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    return gateway.operate("POST", GatewayStage.admin(sku) + "/preheat", null);
  }

  private static GatewayAnswer addStock() {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    String body = "{\"delta\":5,\"reason\":\"more\"}";
    return move(GatewayStage.admin(sku) + "/stock", "key-of-change", body);
  }

  private static GatewayAnswer show(Placed order, String rest) {
    return gateway.get(order.user(), "/api/v1/orders/" + order.id() + rest);
  }

  private static GatewayAnswer act(Placed order, String method, String rest) {
    return gateway.call(order.user(), method, "/api/v1/orders/" + order.id() + rest, null);
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
