package io.seckill.gateway.ops;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.catalogue.ProductReader;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Reads products and orders from MySQL for operators; its statements stay cheap during a sale. */
@Component
record SalesTable(JdbcClient mysql, @Qualifier("operatorMysqlCalls") BlockingCalls calls) {

  static final int MAX_PRODUCTS = 200;
  private static final LocalDateTime LATEST = LocalDateTime.of(9999, 1, 1, 0, 0);
  private static final int LATEST_ORDERS = 500;

  /** Of one status. Rows from a time to come were stored before MySQL's clock was set back. */
  private static final String NEWEST =
      """
      (SELECT order_id, admitted_at, created_at FROM orders FORCE INDEX (ix_orders_status)
        WHERE status = '%s'
        AND created_at BETWEEN UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE AND UTC_TIMESTAMP(6)
        ORDER BY created_at DESC, order_id DESC LIMIT :limit)
      """;

  /** Rows read of the dead letters; a larger number is shown as this. */
  static final int MOST_DEAD_LETTERS = 10_000;

  private static final int WORKERS = (1 << OrderId.WORKER_BITS) - 1;

  /** The part of a {@link SnapshotReader.Snapshot} that MySQL has. */
  record Sales(List<ProductRow> products, long deadLetters, Optional<ClickToRow> clickToRow) {}

  Mono<Sales> sales() {
    return calls.call(
        () ->
            new Sales(
                products(null, MAX_PRODUCTS),
                openDeadLetters(),
                Optional.ofNullable(clickToRow())));
  }

  /**
   * Time from a purchase's admission to its row, by the clocks of Redis and MySQL; of sales that
   * Redis decides.
   *
   * @param orders number of orders measured, 1..500: the latest rows of the last minute that are
   *     CONFIRMED or PAID
   */
  record ClickToRow(int orders, double p50Ms, double p99Ms) {}

  /**
   * A page of the products, running sales first, of each state the latest opening first; read on
   * every call, so that an operator sees the latest changes. A SKU with shards is there once.
   *
   * @param after null for the first page
   * @param limit 1..{@link #MAX_PRODUCTS}
   */
  Mono<List<ProductRow>> page(@Nullable ProductPlace after, int limit) {
    return calls.call(() -> products(after, limit));
  }

  private List<ProductRow> products(@Nullable ProductPlace after, int limit) {
    List<ProductRow> page = new ArrayList<>();
    for (SaleState state : ProductPlace.STATES) {
      if (page.size() < limit && (after == null || after.isBefore(state))) {
        page.addAll(products(state, after, limit - page.size()));
      }
    }
    return page;
  }

  /** Reads along the index (state, opens_at, sku_id), backwards. */
  private List<ProductRow> products(SaleState state, @Nullable ProductPlace after, int limit) {
    LocalDateTime opensAt = LATEST;
    long below = Long.MAX_VALUE;
    if (after != null && after.state() == state) {
      opensAt = after.opensAtUtc();
      below = after.skuId();
    }
    List<ProductRow> skus =
        mysql
            .sql(
                """
                SELECT %s FROM products FORCE INDEX (ix_products_state)
                WHERE state = ? AND opens_at <= ? AND (opens_at < ? OR sku_id < ?) AND sku_id < %s
                ORDER BY opens_at DESC, sku_id DESC LIMIT ?
                """
                    .formatted(ProductReader.COLUMNS, Shards.FIRST_ID))
            .params(state.name(), opensAt, opensAt, below, limit)
            .query((row, n) -> ProductReader.product(row))
            .list();
    return ProductReader.withUnitsOfShards(mysql, skus);
  }

  private long openDeadLetters() {
    return mysql
        .sql(
            "SELECT COUNT(*) FROM"
                + " (SELECT 1 FROM dead_letter WHERE state = 'OPEN' LIMIT ?) pending")
        .param(MOST_DEAD_LETTERS)
        .query(Long.class)
        .single();
  }

  /**
   * Null when no such order was stored within the last minute. The latest rows need not have the
   * highest ids, which follow the gateways' clocks. Blocks.
   */
  @Nullable ClickToRow clickToRow() {
    List<Long> micros =
        mysql
            .sql(
                """
                SELECT TIMESTAMPDIFF(MICROSECOND, admitted_at, created_at) FROM (
                  SELECT * FROM (%s UNION ALL %s) stored
                  ORDER BY created_at DESC, order_id DESC LIMIT :limit
                ) newest WHERE order_id >> %s & %s <> %s ORDER BY 1
                """
                    .formatted(
                        NEWEST.formatted(OrderStatus.CONFIRMED),
                        NEWEST.formatted(OrderStatus.PAID),
                        OrderId.SEQUENCE_BITS,
                        WORKERS,
                        OrderId.MYSQL_WORKER))
            .param("limit", LATEST_ORDERS)
            .query(Long.class)
            .list();
    return micros.isEmpty()
        ? null
        : new ClickToRow(micros.size(), quantileMs(micros, 0.5), quantileMs(micros, 0.99));
  }

  private static double quantileMs(List<Long> sortedMicros, double quantile) {
    int rank = (int) Math.ceil(quantile * sortedMicros.size());
    return Math.max(0, sortedMicros.get(Math.max(1, rank) - 1)) / 1000.0;
  }

  /** The place of a product in the operators' list. */
  record ProductPlace(SaleState state, Instant opensAt, long skuId) {

    /** In the order of the list. */
    static final List<SaleState> STATES =
        List.of(
            SaleState.OPEN, SaleState.PAUSED, SaleState.PREHEATED, SaleState.NEW, SaleState.CLOSED);

    private static final Pattern CURSOR =
        Pattern.compile("(OPEN|PAUSED|PREHEATED|NEW|CLOSED)-([0-9]{1,14})-([1-9][0-9]{0,15})");

    static ProductPlace of(ProductRow product) {
      return new ProductPlace(product.state(), product.opensAt(), product.skuId());
    }

    /** Whether products of this state may follow. */
    boolean isBefore(SaleState other) {
      return STATES.indexOf(state) <= STATES.indexOf(other);
    }

    LocalDateTime opensAtUtc() {
      return LocalDateTime.ofInstant(opensAt, ZoneOffset.UTC);
    }

    String cursor() {
      return state + "-" + opensAt.toEpochMilli() + "-" + skuId;
    }

    /** The place whose cursor this is. Throws ProblemException 400 naming cursor. */
    static ProductPlace ofCursor(String cursor) {
      Matcher parts = CURSOR.matcher(cursor);
      if (!parts.matches()) {
        throw ProblemException.invalid("cursor", "cursor must be the next of an earlier page.");
      }
      return new ProductPlace(
          SaleState.valueOf(parts.group(1)),
          Instant.ofEpochMilli(Long.parseLong(parts.group(2))),
          Long.parseLong(parts.group(3)));
    }
  }
}
