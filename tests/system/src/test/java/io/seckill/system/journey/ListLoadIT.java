package io.seckill.system.journey;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.Pipeline;
import io.seckill.system.faults.LabExtension;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import io.seckill.system.load.Requests;
import io.seckill.system.shop.Answer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Shoppers ask for their orders over and over while a sale runs. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ListLoadIT {

  private static final int CONNECTIONS = 1_000;
  private static final int LISTS = 6_000;
  private static final int LOOKING = 5_000;
  private static final int BUYERS = 200;

  /** Purchases beside the lists that may be answered 503 at first: the machine is busy. Percent. */
  private static final int MOST_BUSY = 5;

  /** Lists that must be answered, in percent; fewer wait than the gateway lets wait. */
  private static final int LEAST_ANSWERED = 50;

  private static final long SKU = 1001;
  private static final long ATTACKED = 1002;
  private static final long BESIDE = 1003;
  private static final long ATTACKER = 10_001;
  private static final int ATTACKS = 400;
  private static final int OTHERS = 3_000;

  /** A stall of the machine for a second makes the gateway busy for a twentieth of them. */
  private static final int MOST_ATTEMPTS = 4;

  private static final SaleOffer OFFER = new SaleOffer(SKU, PurchasePolicy.LIMITED, 5, 10_000);

  @AutoClose private static Pipeline pipeline;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Purchases purchases = new Purchases();

  /** An idle laboratory of the classes before takes half of a processor. */
  @BeforeAll
  static void start() {
    LabExtension.closeAll();
    pipeline = Pipeline.start("list-load");
  }

  @Test
  void leavesPurchasesProductPagesReadinessAndOperatorsAlone() throws Exception {
    pipeline.admin().sell(SKU, OFFER.policy(), OFFER.limit(), OFFER.stock());
    eventually().until(() -> page().path("onSale").booleanValue());
    CompletableFuture<LoadResult> looking = CompletableFuture.supplyAsync(ListLoadIT::lookAtLists);

    long buyer = 0;
    long whileLooking = 0;
    long busy = 0;
    while (!looking.isDone() || buyer < BUYERS) {
      busy += buy(++buyer) ? 0 : 1;
      whileLooking += looking.isDone() ? 0 : 1;
      assertThat(readiness()).isEqualTo(200);
      assertThat(page().path("onSale").booleanValue()).as("the sale runs").isTrue();
      if (buyer % 50 == 0) {
        eventually("a pause").until(() -> pipeline.admin().pause(SKU).status() == 200);
        assertThat(pipeline.shop().buy(9_999, SKU, 1, "while-it-is-paused").code())
            .isEqualTo("PAUSED");
        eventually("a resume").until(() -> pipeline.admin().resume(SKU).status() == 200);
        eventually().until(() -> page().path("onSale").booleanValue());
      }
    }

    LoadResult lists = looking.orTimeout(5, TimeUnit.MINUTES).join();
    assertThat(lists.broken()).isZero();
    assertThat(lists.byStatus().keySet()).isSubsetOf(Set.of(200, 503));
    assertThat(lists.byStatus().values().stream().mapToLong(Long::longValue).sum())
        .as("answers to %d lists", LISTS)
        .isEqualTo(LISTS);
    assertThat(100 * lists.answers(200))
        .as("lists, of %s", lists.byStatus())
        .isGreaterThanOrEqualTo(LEAST_ANSWERED * LISTS);
    assertThat(whileLooking).as("purchases while lists were read").isGreaterThanOrEqualTo(10);
    assertThat(100 * busy).as("busy, of %d", buyer).isLessThanOrEqualTo(MOST_BUSY * buyer);
    SaleAtRest sale = atRest(buyer);
    Guarantee.all().forEach(guarantee -> guarantee.judge(sale, purchases));
  }

  /**
   * An hour of buying and cancelling at the allowed rate leaves so many fields in one bucket. Its
   * user asks for the list of orders as often as the limit per user lets shops poll.
   */
  @Test
  void oneUserWithALargeBucketStallsNobody() throws Exception {
    pipeline.admin().sell(ATTACKED, PurchasePolicy.UNLIMITED, 0, 10_000);
    pipeline.admin().sell(BESIDE, PurchasePolicy.UNLIMITED, 0, 20_000);
    fillBucket(ATTACKER, 200_000);
    byte[] list = new Requests(pipeline.tokens()).list(ATTACKER);
    int warmUp = 1_000;
    byte[][] bought = purchases(warmUp + MOST_ATTEMPTS * OTHERS);
    load(warmUp, 100, n -> bought[n]);

    int attempt = 0;
    while (!isServedBeside(list, bought, warmUp + attempt * OTHERS)) {
      assertThat(++attempt).as("attempts with a busy gateway").isLessThan(MOST_ATTEMPTS);
    }
    HttpRequest page =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + pipeline.shopPort() + "/api/v1/orders?limit=8"))
            .header("Authorization", "Bearer " + pipeline.tokens().shopper(ATTACKER))
            .build();
    eventually("a list that may lack orders")
        .until(
            () -> http.send(page, BodyHandlers.ofString()).body(),
            body -> body.contains("\"complete\":false"));
  }

  /** Asks for a list many times, and buys meanwhile, from the given purchase on. */
  private static boolean isServedBeside(byte[] list, byte[][] bought, int first) {
    CompletableFuture<LoadResult> attack =
        CompletableFuture.supplyAsync(() -> load(ATTACKS, 20, n -> list));
    LoadResult others = load(OTHERS, 150, n -> bought[first + n]);
    LoadResult lists = attack.orTimeout(5, TimeUnit.MINUTES).join();
    assertThat(others.broken()).isZero();
    assertThat(others.byStatus().keySet()).isSubsetOf(Set.of(202, 503));
    assertThat(lists.broken()).isZero();
    assertThat(lists.byStatus().keySet()).isSubsetOf(Set.of(200, 503));
    return 100 * others.answers(503) <= (long) MOST_BUSY * OTHERS
        && 100 * lists.answers(503) <= (long) MOST_BUSY * ATTACKS;
  }

  private static byte[][] purchases(int count) {
    Requests requests = new Requests(pipeline.tokens());
    byte[][] purchases = new byte[count][];
    for (int n = 0; n < count; n++) {
      purchases[n] = requests.purchase(20_000L + n, BESIDE);
    }
    return purchases;
  }

  private static void fillBucket(long user, int fields) {
    int buckets = Integer.parseInt(pipeline.redis().hget(RedisKeys.sku(ATTACKED), "bucketCount"));
    String bucket = RedisKeys.bucket(ATTACKED, RedisKeys.bucketOf(user, buckets));
    for (int from = 0; from < fields; from += 1_000) {
      Map<String, String> some = new HashMap<>();
      for (int i = from; i < from + 1_000; i++) {
        some.put("compensated:" + i, "1:1");
      }
      pipeline.redis().hset(bucket, some);
    }
    assertThat(pipeline.redis().hlen(bucket)).isEqualTo(fields);
  }

  private static LoadResult load(int count, double perSecond, IntFunction<byte[]> request) {
    try {
      return Loader.run(
          new LoadPlan(pipeline.shopPort(), 64, count, perSecond, n -> request.apply((int) n)),
          answer -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Buys, with the same key again after a 503; returns whether the first try was accepted. */
  private boolean buy(long user) {
    String key = "order-of-" + user;
    purchases.attempt(SKU, user, key, 1);
    AtomicInteger tries = new AtomicInteger();
    Answer answer =
        eventually()
            .until(
                () -> {
                  tries.incrementAndGet();
                  return pipeline.shop().buy(user, SKU, 1, key);
                },
                last -> last.status() != 503);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    purchases.accepted(SKU, user, key, answer.text("orderId"));
    return tries.get() == 1;
  }

  private static LoadResult lookAtLists() {
    Requests requests = new Requests(pipeline.tokens());
    byte[][] lists = new byte[LOOKING][];
    for (int user = 0; user < LOOKING; user++) {
      lists[user] = requests.list(user + 1L);
    }
    try {
      return Loader.run(
          new LoadPlan(
              pipeline.shopPort(),
              CONNECTIONS,
              LISTS,
              LoadPlan.ASAP,
              n -> lists[(int) n % LOOKING]),
          answer -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonNode page() {
    HttpResponse<String> answer = get(pipeline.shopPort(), "/api/v1/skus/" + SKU);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(answer.body());
  }

  private int readiness() {
    return get(pipeline.adminPort(), "/actuator/health/readiness").statusCode();
  }

  private HttpResponse<String> get(int port, String path) {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    return http.sendAsync(
            HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(20)).build(),
            BodyHandlers.ofString())
        .orTimeout(5, TimeUnit.MINUTES)
        .join();
  }

  private static SaleAtRest atRest(long orders) throws Exception {
    eventually().until(() -> pipeline.sales().settledOrders(SKU), settled -> settled == orders);
    eventually().until(() -> pipeline.sales().read(OFFER), sale -> sale.inPrivateQueues() == 0);
    return pipeline.sales().read(OFFER);
  }
}
