package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.system.shop.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks each guarantee with a history that violates it: a correct history with one change. The
 * guarantee must report the violation, and the history without the change must pass all guarantees.
 */
class GuaranteesTest {

  private static final long SKU = 7_001;
  private static final long ADMITTED_AT = 1_000_000;
  private static final long PRICE = 1_999;

  private static final String GOOD_LEDGER =
      """
      {"balanced":true,"unbalancedSince":null,"orders":{"admitted":3},
       "units":{"stock":8,"confirmed":1,"paid":1,"outboxAndPrivateQueues":0,"broker":0}}\
      """;

  @Test
  void aGoodHistoryPassesThemAll() {
    History history = new History();

    assertThatCode(() -> history.judgeAll(Guarantee.all())).doesNotThrowAnyException();
    assertThatCode(() -> history.judgeAll(List.of(goodLedger()))).doesNotThrowAnyException();
  }

  @Test
  void whatTheFaultExplainsIsNotHeldAgainstTheRun() {
    History history = new History();
    history.reject("QUOTA_EXCEEDED");
    history.alias();
    history.repairs.add(new Repaired("QUOTA_SET", "3", "2", "1"));
    Explained explained =
        Explained.NOTHING.withRejections("QUOTA_EXCEEDED").withAliases().withRepairs("QUOTA_SET");

    assertThatCode(() -> history.judgeAll(Guarantee.all(explained))).doesNotThrowAnyException();
  }

  @Test
  void aGoodHistoryOfAStrongSalePassesThemAll() {
    History history = new History().strong();
    history.refuse(8, "too-late", "SOLD_OUT", ADMITTED_AT + 1);
    history.purchases.certainlyRefused(SKU, 8, "too-late");
    history.stock = 2;
    history.mysqlStock = 0;

    assertThatCode(() -> history.judgeAll(Guarantee.strong())).doesNotThrowAnyException();
    LedgerBalances ledger = ledger(200, GOOD_LEDGER.replace("\"stock\":8", "\"stock\":0"));
    assertThatCode(() -> history.judgeAll(List.of(ledger))).doesNotThrowAnyException();
  }

  @Test
  void anUncertainRefusalMayHaveAnOrder() {
    History history = new History().strong();
    history.refuse(1, "first", "SOLD_OUT", ADMITTED_AT);

    assertThatCode(() -> history.judgeAll(List.of(new RefusedHasNoOrder())))
        .doesNotThrowAnyException();
  }

  @Test
  void everyGuaranteeHasAHistoryThatBreaksIt() {
    Set<Class<?>> broken = new HashSet<>();
    brokenHistories().forEach(history -> broken.add(history.get()[0].getClass()));

    assertThat(broken)
        .containsAll(Guarantee.all().stream().map(Guarantee::getClass).toList())
        .containsAll(Guarantee.strong().stream().map(Guarantee::getClass).toList())
        .containsAll(Guarantee.afterFallback().stream().map(Guarantee::getClass).toList())
        .contains(LossIsMeasured.class, LedgerBalances.class);
  }

  static Stream<Arguments> brokenHistories() {
    return Stream.of(
        breaks(new NeverOversold(), h -> h.mysqlStock++, "stock of SKU 7001 in MySQL"),
        breaks(new NeverOversold(), h -> h.stock = 1, "units of SKU 7001 that shoppers own"),
        breaks(new NothingLost(), h -> h.orders.remove(0), "promised but nowhere"),
        breaks(new NothingLost(), h -> h.admitted.add("99"), "promised but nowhere"),
        breaks(
            new NothingInvented(),
            h -> h.store("99", 9, "never-sent", 1, "CONFIRMED"),
            "asked for by the purchase"),
        breaks(
            new NothingInvented(),
            h -> h.replace(0, h.order("1", 1, "first", 2, "CONFIRMED", "")),
            "asked for by the purchase"),
        breaks(
            new StoredOnce(),
            h -> h.store("99", 1, "first", 1, "CONFIRMED"),
            "orders of one purchase"),
        breaks(new StoredOnce(), h -> h.charges.clear(), "cents charged"),
        breaks(new StoredOnce(), h -> h.charges.put("1", PRICE), "cents charged"),
        breaks(new StoredOnce(), h -> h.charges.put("2", 2 * PRICE), "cents charged"),
        breaks(new StoredOnce(), h -> h.charges.put("99", PRICE), "orders that were charged"),
        breaks(
            new PromisesKept(),
            h -> h.replace(0, h.order("1", 1, "first", 1, "REJECTED", "SOLD_OUT")),
            "promised and rejected"),
        breaks(new PromisesKept(), h -> h.aliases.add("1"), "second orders of purchases"),
        breaks(new AdmittedOnce(Explained.NOTHING), History::alias, "second orders of requests"),
        breaks(new QuotaHeld(), h -> h.mysqlQuota.put(1L, 2L), "quota of SKU 7001 in MySQL"),
        breaks(
            new QuotaHeld(),
            h -> {
              h.store("99", 1, "again", 2, "CONFIRMED");
              h.mysqlQuota.put(1L, 3L);
            },
            "within the limit of 2"),
        breaks(new StoresAgree(), h -> h.redisStock++, "stock of SKU 7001 in Redis"),
        breaks(new StoresAgree(), h -> h.redisQuota.remove(1L), "quota of SKU 7001 in Redis"),
        breaks(new StoresAgree(), h -> h.outboxed = 1, "orders left in the outbox"),
        breaks(new StoresAgree(), h -> h.inPrivateQueues = 1, "orders left in private queues"),
        breaks(new CompensatedOnce(), h -> h.compensations.remove("3"), "whose units go back"),
        breaks(new CompensatedOnce(), h -> h.compensations.put("1", true), "whose units go back"),
        breaks(
            new CompensatedOnce(),
            h -> h.replace(0, h.order("1", 1, "first", 1, "EXPIRED", "")),
            "whose units go back"),
        breaks(
            new CompensatedOnce(),
            h -> h.replace(0, h.order("1", 1, "first", 1, "REJECTED", "QUOTA_EXCEEDED")),
            "whose units go back"),
        breaks(new CompensatedOnce(), h -> h.compensations.put("3", false), "has not confirmed"),
        breaks(new CompensatedOnce(), h -> h.compensated.add("1"), "given back in Redis"),
        breaks(
            new RequestsKeepTheirOrder(), h -> h.requests.put("1:first", "99"), "order of Request"),
        breaks(new RequestsKeepTheirOrder(), h -> h.requests.clear(), "order of Request"),
        breaks(
            new RequestsKeepTheirOrder(),
            h -> h.replace(0, h.order("99", 1, "first", 1, "CONFIRMED", "")),
            "order of 1:first in MySQL"),
        breaks(
            new RequestsKeepTheirOrder(),
            h -> h.purchases.accepted(SKU, 1, "first", "99"),
            "answers that contradict another"),
        breaks(
            new RefusalsAreTrue(),
            h -> h.refuse(1, "first", "SOLD_OUT", ADMITTED_AT + 1),
            "next to the sending of the try"),
        breaks(
            new RefusalsAreTrue(),
            h -> h.refuse(8, "no-luck", "SOLD_OUT", ADMITTED_AT + 1),
            "when he was told SOLD_OUT"),
        breaks(
            new RefusalsAreTrue(),
            h -> h.refuse(8, "no-luck", "TOO_FEW_LEFT", ADMITTED_AT + 1),
            "when he was told TOO_FEW_LEFT"),
        breaks(
            new RefusalsAreTrue(),
            h -> h.refuse(1, "once-more", "QUOTA_EXCEEDED", ADMITTED_AT + 1),
            "when he was told QUOTA_EXCEEDED"),
        breaks(
            new OutcomesStay(Explained.NOTHING), h -> h.reject("QUOTA_EXCEEDED"), "SKU 7001 ended"),
        breaks(
            new OutcomesStay(Explained.NOTHING.withRejections("SOLD_OUT")),
            h -> h.reject("QUOTA_EXCEEDED"),
            "SKU 7001 ended"),
        breaks(
            new OutcomesStay(Explained.NOTHING),
            h -> h.replace(0, h.order("1", 1, "first", 1, "EXPIRED", "")),
            "SKU 7001 ended"),
        breaks(
            new OutcomesStay(Explained.NOTHING),
            h -> {
              h.purchases.unansweredEnd("1", "PAID");
              h.replace(0, h.order("1", 1, "first", 1, "CANCELLED", ""));
            },
            "SKU 7001 ended"),
        breaks(
            new OutcomesStay(Explained.NOTHING.withRejections("QUOTA_EXCEEDED")),
            h -> h.replace(1, h.order("2", 2, "paid", 1, "CANCELLED", "")),
            "SKU 7001 ended"),
        breaks(new CountersAgree(), h -> h.counters = counters(4, 3, 3, 0, 3, 3), "at admission"),
        breaks(new CountersAgree(), h -> h.counters = counters(3, 2, 3, 0, 3, 3), "left a private"),
        breaks(
            new CountersAgree(), h -> h.counters = counters(3, 3, 4, 0, 3, 3), "they were settled"),
        breaks(
            new CountersAgree(), h -> h.counters = counters(3, 3, 3, 0, 4, 3), "highest admission"),
        breaks(
            new NothingRepaired(Explained.NOTHING.withRepairs("QUOTA_SET")),
            h -> h.repairs.add(new Repaired("ORDER_SENT_AGAIN", "1", "nowhere", "sent")),
            "repairs of SKU 7001"),
        breaks(new LossIsMeasured(Set.of("2")), h -> h.orders.remove(0), "that are missing"),
        breaks(
            new RefusedHasNoOrder(),
            h -> {
              h.refuse(1, "first", "SOLD_OUT", ADMITTED_AT);
              h.purchases.certainlyRefused(SKU, 1, "first");
            },
            "whose purchase was refused"),
        breaks(new OnlyInMySql(), strong(h -> h.traces.add("seckill:{1}:sku:7001")), "Redis has"),
        breaks(new OnlyInMySql(), strong(h -> h.compensations.put("3", true)), "compensated in"),
        breaks(new OnlyInMySql(), strong(h -> h.aliases.add("98")), "second ids"),
        breaks(
            new OnlyInMySql(),
            strong(h -> h.repairs.add(new Repaired("STOCK_SET", "3", "2", "1"))),
            "repairs of SKU 7001"),
        breaks(
            new OutcomesStay(Explained.NOTHING),
            strong(h -> h.replace(0, h.order("1", 1, "first", 1, "REJECTED", "SOLD_OUT"))),
            "SKU 7001 ended"),
        breaks(
            new RequestsKeepTheirOrder(),
            strong(h -> h.replace(0, h.order("99", 1, "first", 1, "CONFIRMED", ""))),
            "order of 1:first in MySQL"),
        breaks(
            new CountersAgree(),
            strong(h -> h.counters = counters(0, 0, 4, 0, 0, 4)),
            "they were settled"),
        breaks(
            new CountersAgree(),
            strong(h -> h.counters = counters(0, 0, 3, 0, 0, 2)),
            "highest admission"),
        breaks(unansweredLedger(), h -> {}, "answered ledger of SKU 7001"),
        breaks(ledger(503, "{}"), h -> {}, "status of Answer"),
        breaks(ledgerWith("true", "false"), h -> {}, "balanced: "),
        breaks(ledgerWith("null", "\"2026-01-01T00:00:00Z\""), h -> {}, "unbalanced since: "),
        breaks(ledgerWith("\"stock\":8", "\"stock\":9"), h -> {}, "units on sale: "),
        breaks(goodLedger(), h -> h.redisStock++, "units on sale: "),
        breaks(goodLedger(), strong(h -> h.mysqlStock++), "units on sale: "),
        breaks(ledgerWith("\"confirmed\":1", "\"confirmed\":2"), h -> {}, "units owned: "),
        breaks(ledgerWith("\"paid\":1", "\"paid\":0"), h -> {}, "units owned: "),
        breaks(ledgerWith("Queues\":0", "Queues\":1"), h -> {}, "units in flight: "),
        breaks(ledgerWith("broker\":0", "broker\":1"), h -> {}, "units in flight: "),
        breaks(goodLedger(), h -> h.admitted.add("99"), "orders admitted: "),
        breaks(
            goodLedger(),
            strong(h -> h.store("99", 9, "late", 1, "CANCELLED")),
            "orders admitted: "));
  }

  static LedgerBalances goodLedger() {
    return ledger(200, GOOD_LEDGER);
  }

  static LedgerBalances unansweredLedger() {
    return new LedgerBalances(Map.of());
  }

  private static LedgerBalances ledgerWith(String right, String wrong) {
    return ledger(200, GOOD_LEDGER.replace(right, wrong));
  }

  private static LedgerBalances ledger(int status, String json) {
    return new LedgerBalances(Map.of(SKU, new Answer(status, JsonMapper.shared().readTree(json))));
  }

  private static Consumer<History> strong(Consumer<History> change) {
    return history -> change.accept(history.strong());
  }

  @ParameterizedTest(name = "{0} says: {2}")
  @MethodSource("brokenHistories")
  void saysWhatIsBroken(Guarantee guarantee, Consumer<History> change, String complaint) {
    History history = new History();
    change.accept(history);

    assertThatThrownBy(() -> history.judgeAll(List.of(guarantee)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(complaint);
  }

  @Test
  void aRefusedTryMayBeAdmittedLater() {
    History history = new History();
    history.refuse(3, "cancelled", "SOLD_OUT", ADMITTED_AT);
    history.stock = 3;
    history.mysqlStock = 1;
    history.redisStock = 1;

    assertThatCode(() -> history.judgeAll(List.of(new RefusalsAreTrue())))
        .doesNotThrowAnyException();
  }

  /** Its shoppers bought from one of two shards, which had ten units of fifteen. */
  @Test
  void aSkuInShardsIsJudgedAsAWholeAndEachShardByWhatTheStoresHave() {
    History history = new History();
    SaleAtRest shard = history.sale(Shards.id(SKU, 1));
    SaleOffer offer = new SaleOffer(SKU, PurchasePolicy.LIMITED, 1, 15).inShards(2);
    SaleAtRest whole = SaleAtRest.together(offer, 5, List.of(shard));

    assertThat(history.complaints(whole)).isEmpty();
    assertThat(history.complaints(shard)).isEmpty();

    assertThat(history.complaints(SaleAtRest.together(offer, 4, List.of(shard))))
        .singleElement()
        .asString()
        .startsWith("NeverOversold");
    SaleOffer more = new SaleOffer(SKU, PurchasePolicy.LIMITED, 1, 25).inShards(2);
    assertThat(history.complaints(SaleAtRest.together(more, 5, List.of(shard, shard))))
        .anyMatch(complaint -> complaint.startsWith("QuotaHeld"))
        .anyMatch(complaint -> complaint.startsWith("StoredOnce"));
    history.mysqlStock--;
    assertThat(history.complaints(history.sale(Shards.id(SKU, 1))))
        .anyMatch(complaint -> complaint.startsWith("NeverOversold"))
        .anyMatch(complaint -> complaint.startsWith("StoresAgree"));
    history.refuse(8, "while-another-shard-had-units", "SOLD_OUT", ADMITTED_AT + 1);
    assertThat(history.complaints(whole)).singleElement().asString().startsWith("RefusalsAreTrue");
  }

  @Test
  void anOrderMayEndAsItsShopperAskedWithoutBeingTold() {
    History history = new History();
    history.purchases.unansweredEnd("1", "PAID");
    history.replace(0, history.order("1", 1, "first", 1, "PAID", ""));

    assertThatCode(() -> history.judgeAll(List.of(new OutcomesStay(Explained.NOTHING))))
        .doesNotThrowAnyException();
  }

  private static Arguments breaks(Guarantee guarantee, Consumer<History> change, String complaint) {
    return Arguments.of(guarantee, change, complaint);
  }

  private static SaleCounters counters(
      long admitted, long published, long settled, long aliased, long seq, long storedSeq) {
    return new SaleCounters(admitted, published, settled, aliased, seq, storedSeq);
  }

  /** Three shoppers bought one unit each of ten, at a limit of two; one paid, one cancelled. */
  static final class History {

    private final Purchases purchases = new Purchases();
    private final List<OrderHistoryRow> orders = new ArrayList<>();
    private final Set<String> aliases = new HashSet<>();
    private final Map<String, Long> charges = new HashMap<>(Map.of("2", PRICE));
    private final Map<Long, Long> mysqlQuota = new HashMap<>(Map.of(1L, 1L, 2L, 1L, 3L, 0L));
    private final Map<Long, Long> redisQuota = new HashMap<>(Map.of(1L, 1L, 2L, 1L));
    private final Set<String> admitted = new HashSet<>(Set.of("1", "2", "3"));
    private final Map<String, String> requests = new HashMap<>();
    private final Set<String> compensated = new HashSet<>(Set.of("3"));
    private final Map<String, Boolean> compensations = new HashMap<>(Map.of("3", true));
    private final Set<String> traces = new HashSet<>();
    private final List<Repaired> repairs = new ArrayList<>();
    private boolean strong;
    private SaleCounters counters = counters(3, 3, 3, 0, 3, 3);
    long stock = 10;
    private long mysqlStock = 8;
    private long redisStock = 8;
    private long outboxed;
    private long inPrivateQueues;

    History() {
      buy("1", 1, "first", "CONFIRMED");
      buy("2", 2, "paid", "PAID");
      buy("3", 3, "cancelled", "CANCELLED");
      purchases.ended("2", "PAID");
      purchases.ended("3", "CANCELLED");
    }

    /** The same in a strong sale, which is not in Redis. */
    History strong() {
      strong = true;
      redisStock = 0;
      redisQuota.clear();
      admitted.clear();
      requests.clear();
      compensated.clear();
      compensations.clear();
      counters = counters(0, 0, 3, 0, 0, 3);
      return this;
    }

    private void buy(String orderId, long userId, String key, String status) {
      purchases.attempt(SKU, userId, key, 1);
      purchases.accepted(SKU, userId, key, orderId);
      requests.put(userId + ":" + key, orderId);
      store(orderId, userId, key, 1, status);
    }

    void store(String orderId, long userId, String key, int quantity, String status) {
      orders.add(order(orderId, userId, key, quantity, status, ""));
    }

    OrderHistoryRow order(
        String orderId, long userId, String key, int quantity, String status, String reason) {
      return new OrderHistoryRow(
          orderId, userId, key, quantity, status, reason, PRICE, ADMITTED_AT);
    }

    void replace(int index, OrderHistoryRow order) {
      orders.set(index, order);
    }

    /** Makes the first order one that MySQL has rejected and that is compensated. */
    void reject(String reason) {
      replace(0, order("1", 1, "first", 1, "REJECTED", reason));
      compensations.put("1", true);
      compensated.add("1");
      mysqlQuota.remove(1L);
      redisQuota.remove(1L);
      mysqlStock++;
      redisStock++;
    }

    /** Adds a second admission of a purchase that had been stored. */
    void alias() {
      aliases.add("98");
      admitted.add("98");
      compensations.put("98", true);
      compensated.add("98");
      counters = counters(4, 4, 4, 1, 4, 4);
    }

    void refuse(long userId, String key, String code, long sentAtMs) {
      purchases.attempt(SKU, userId, key, 1);
      purchases.refused(SKU, userId, key, code, sentAtMs, sentAtMs + 5);
    }

    void judgeAll(List<Guarantee> guarantees) {
      SaleAtRest sale = sale();
      guarantees.forEach(guarantee -> guarantee.judge(sale, purchases));
    }

    Purchases purchases() {
      return purchases;
    }

    List<String> complaints(SaleAtRest sale) {
      List<String> complaints = new ArrayList<>();
      Guarantee.all().forEach(guarantee -> guarantee.judge(sale, purchases, complaints));
      return complaints;
    }

    SaleAtRest sale() {
      return sale(SKU);
    }

    SaleAtRest sale(long id) {
      SaleOffer offer = new SaleOffer(id, PurchasePolicy.LIMITED, 2, stock);
      return new SaleAtRest(
          strong ? offer.strong() : offer,
          mysqlStock,
          orders,
          aliases,
          charges,
          mysqlQuota,
          redisStock,
          redisQuota,
          admitted,
          outboxed,
          inPrivateQueues,
          requests,
          compensated,
          compensations,
          traces,
          repairs,
          counters);
    }
  }
}
