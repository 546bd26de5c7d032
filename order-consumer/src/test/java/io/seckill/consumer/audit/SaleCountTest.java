package io.seckill.consumer.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.loading.SaleOrders.Payment;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.testing.UnstoredProduct;
import io.seckill.testing.LoggedLines;
import java.time.Instant;
import java.time.LocalDate;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SaleCountTest {

  private static final OrderId ALIAS = new OrderId(90);

  /**
   * Ten units: 2 confirmed, 3 paid and charged, 1 cancelled and refunded, 2 expired whose refund is
   * due, 1 rejected, an alias.
   */
  private static final class Sale {
    private final Map<OrderId, AdmissionRecord> orders = new TreeMap<>();
    private final Map<OrderId, Payment> payments = new TreeMap<>();
    private final Map<OrderFate, OrderTotals> totals = new EnumMap<>(OrderFate.class);
    private final Map<Long, Long> quotas = new TreeMap<>(Map.of(1L, 2L, 2L, 3L));
    private long stock = 5;
    private long inShards;
    private boolean archived;

    Sale() {
      orders.put(new OrderId(1), order(2, OrderStatus.CONFIRMED, null));
      orders.put(new OrderId(2), order(3, OrderStatus.PAID, null));
      orders.put(new OrderId(3), order(1, OrderStatus.CANCELLED, null));
      orders.put(new OrderId(4), order(1, OrderStatus.REJECTED, null));
      orders.put(new OrderId(5), order(2, OrderStatus.EXPIRED, null));
      orders.put(ALIAS, order(2, OrderStatus.REJECTED, new OrderId(1)));
      payments.put(new OrderId(2), new Payment("CHARGED", 300, 0));
      payments.put(new OrderId(3), new Payment("REFUNDED", 100, 0));
      payments.put(new OrderId(5), new Payment("REFUND_DUE", 200, 0));
      totals.put(OrderFate.CONFIRMED, new OrderTotals(4, 8));
      totals.put(OrderFate.PAID, new OrderTotals(1, 3));
      totals.put(OrderFate.CANCELLED, new OrderTotals(1, 1));
      totals.put(OrderFate.EXPIRED, new OrderTotals(1, 2));
      totals.put(OrderFate.REJECTED, new OrderTotals(1, 1));
      totals.put(OrderFate.ALIASES, new OrderTotals(1, 2));
    }

    SaleCount count() {
      SaleCount count = new SaleCount();
      orders.forEach((id, order) -> count.add(Map.of(id, order), payments)); // page by page
      count.addQuotas(quotas);
      return count;
    }

    List<String> differences() {
      return count().differences(snapshot(), inShards, totals);
    }

    private ProductSnapshot snapshot() {
      return UnstoredProduct.of(7).stock(stock, 10).archived(archived).snapshot();
    }
  }

  private static AdmissionRecord order(int quantity, OrderStatus status, OrderId stored) {
    return new AdmissionRecord(1, "key", quantity, 1, 0, 1, status, null, 0, stored);
  }

  @Test
  void findsNothingInASaleThatAgrees() {
    Sale sale = new Sale();

    assertThat(sale.differences()).isEmpty();
    assertThat(sale.count().chargedCents()).isEqualTo(300);
    assertThat(sale.count().refundedCents()).isEqualTo(100);
    assertThat(sale.count().refundsDue()).isEqualTo(1);
    assertThat(sale.count().of(OrderStatus.EXPIRED)).isEqualTo(new OrderTotals(1, 2));
  }

  /** Operators may refund some of a charge; the order stays PAID. */
  @Test
  void doesNotKeepWhatAWalletHasRefundedOfACharge() {
    Sale sale = new Sale();
    sale.payments.put(new OrderId(2), new Payment("CHARGED", 300, 120));

    assertThat(sale.differences()).isEmpty();
    assertThat(sale.count().chargedCents()).isEqualTo(180);
    assertThat(sale.count().refundedCents()).isEqualTo(220);
  }

  @Test
  void doesNotMissTheQuotasOfAnArchivedSale() {
    Sale sale = new Sale();
    sale.archived = true;
    sale.quotas.clear();

    assertThat(sale.differences()).isEmpty();
  }

  static Stream<Arguments> wrongSales() {
    return Stream.of(
        wrong(s -> s.stock = 6, "stock is 6; 10 units less 5 sold are 5"),
        wrong(s -> s.inShards = 1, "stock is 5; 9 units less 5 sold are 4"),
        wrong(s -> s.quotas.put(1L, 1L), "quotas are 4 units; 5 are sold"),
        wrong(
            s -> s.totals.remove(OrderFate.CANCELLED),
            "order_total says 0 orders, 0 units CANCELLED; its rows are 1, 1"),
        wrong(
            s -> s.totals.remove(OrderFate.EXPIRED),
            "order_total says 0 orders, 0 units EXPIRED; its rows are 1, 2"),
        wrong(
            s -> s.totals.remove(OrderFate.REJECTED),
            "order_total says 0 orders, 0 units REJECTED; its rows are 1, 1"),
        wrong(
            s -> s.totals.put(OrderFate.CONFIRMED, new OrderTotals(4, 6)),
            "order_total says 4 orders, 6 units CONFIRMED; its rows are 4, 8"),
        wrong(
            s -> s.totals.put(OrderFate.PAID, new OrderTotals(1, 2)),
            "order_total says 1 orders, 2 units PAID; its rows are 1, 3"),
        wrong(
            s -> s.orders.remove(ALIAS),
            "order_total says 1 orders, 2 units ALIASES; its rows are 0, 2"),
        wrong(s -> s.payments.remove(new OrderId(2)), "1 PAID orders without a charge: [2]"),
        wrong(
            s -> s.payments.put(new OrderId(2), new Payment("REFUND_DUE", 300, 0)),
            "1 PAID orders without a charge: [2]"),
        wrong(
            s -> s.payments.put(new OrderId(1), new Payment("CHARGED", 200, 0)),
            "1 charges kept for orders not PAID: [1]"),
        wrong(
            s -> s.payments.put(new OrderId(3), new Payment("CHARGED", 100, 0)),
            "1 charges kept for orders not PAID: [3]"));
  }

  private static Arguments wrong(Consumer<Sale> change, String difference) {
    return Arguments.of(change, difference);
  }

  @ParameterizedTest
  @MethodSource("wrongSales")
  void findsEachContradiction(Consumer<Sale> change, String difference) {
    Sale sale = new Sale();
    change.accept(sale);

    assertThat(sale.differences()).containsExactly(difference);
  }

  /** Ten orders without a charge, five of them named, and one with: all logged. */
  @Test
  void namesTheFirstOfMany() {
    SaleCount count = new SaleCount();
    Map<OrderId, AdmissionRecord> wrong = new TreeMap<>();
    LongStream.rangeClosed(1, 10)
        .forEach(id -> wrong.put(new OrderId(id), order(1, OrderStatus.PAID, null)));
    OrderId charged = new OrderId(11);
    wrong.put(charged, order(1, OrderStatus.CANCELLED, null));
    LoggedLines lines = LoggedLines.ofThisThread(SaleCount.class);
    count.add(wrong, Map.of(charged, new Payment("CHARGED", 100, 0)));
    lines.close();

    assertThat(lines.texts()).singleElement().asString().endsWith(": " + wrong.keySet());
    assertThat(count.differences(new Sale().snapshot(), 0, Map.of()))
        .contains("10 PAID orders without a charge: [1, 2, 3, 4, 5]");
  }

  @Test
  void aSkuHasTheSumsOfItsShardsAndNamesWhoseDifferencesItHas() {
    List<SaleAudit> shards =
        List.of(
            audit(Shards.ids(7, 2).get(0), 10, List.of()),
            audit(Shards.ids(7, 2).get(1), 100, List.of("stock is 6")));

    SaleAudit whole = audit(7, 1, List.of("own")).withShards(shards);

    assertThat(whole)
        .isEqualTo(
            new SaleAudit(
                LocalDate.EPOCH,
                7,
                "OPEN",
                1,
                111,
                new OrderTotals(111, 222),
                new OrderTotals(333, 444),
                new OrderTotals(555, 666),
                new OrderTotals(777, 888),
                new OrderTotals(999, 1_110),
                1_221,
                1_332,
                1_443,
                1_554,
                List.of("own", "shard 1: stock is 6"),
                Instant.EPOCH,
                shards));
    assertThat(audit(7, 1, List.of()).withShards(List.of()).shards()).isNull();
  }

  private static SaleAudit audit(long sku, long n, List<String> differences) {
    return new SaleAudit(
        LocalDate.EPOCH,
        sku,
        "OPEN",
        n, // units are the SKU's own
        n,
        new OrderTotals(n, 2 * n),
        new OrderTotals(3 * n, 4 * n),
        new OrderTotals(5 * n, 6 * n),
        new OrderTotals(7 * n, 8 * n),
        new OrderTotals(9 * n, 10 * n),
        11 * n,
        12 * n,
        13 * n,
        14 * n,
        differences,
        Instant.EPOCH,
        null);
  }
}
