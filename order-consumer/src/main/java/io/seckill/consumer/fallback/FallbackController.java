package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.RequestChecks;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;

/** The fallback as operators see and change it, on the internal port. */
@RestController
record FallbackController(
    FallbackProperties settings,
    FallbackControl control,
    FallbackTable table,
    FallbackSales sales,
    GatewayTable gateways,
    FallbackDatabase mysql,
    AuditLog audit) {

  private static final String PATH = "/internal/v1/fallback";
  private static final int MOST_FAILURES = 100_000;

  /** The gateway refuses a long answer, and a fallback may have 100,000 sales. */
  private static final int MOST_SHOWN = 200;

  /**
   * @param startedBy an operator or "automatic"; null before the first
   * @param salesOfRedis how many Redis decides, each shard once; those that are over do not count
   * @param salesInFallback how many there are, a SKU with shards once
   * @param reservedUnits of them all
   * @param sales at most {@link #MOST_SHOWN} of them, those first that have a reserve
   */
  record View(
      FallbackMode mode,
      SalePhase state,
      long term,
      @Nullable String startedBy,
      Instant changedAt,
      int failurePercent,
      int failuresPerSecond,
      List<GatewayNode> gateways,
      long salesOfRedis,
      int salesInFallback,
      long reservedUnits,
      List<InFallback> sales) {}

  @GetMapping(PATH)
  View show() {
    Overview now = gateways.overview();
    FallbackTable.Row row = now.fallback();
    List<InFallback> all = bySku(sales.all());
    return new View(
        settings.fallback(),
        row.state(),
        row.term(),
        row.startedBy(),
        row.changedAt(),
        row.failurePercent(),
        row.failuresPerSecond(),
        now.gateways().all(),
        sales.countOfRedis(),
        all.size(),
        all.stream().mapToLong(InFallback::reservedUnits).sum(),
        all.stream()
            .sorted(Comparator.comparing(sale -> sale.reservedUnits() == 0))
            .limit(MOST_SHOWN)
            .toList());
  }

  /** The shards of a SKU as one sale, as the first of them is. */
  static List<InFallback> bySku(List<InFallback> sales) {
    Map<Long, InFallback> bySku = new TreeMap<>();
    for (InFallback sale : sales) {
      long sku = Shards.sku(sale.skuId());
      bySku.merge(
          sku,
          new InFallback(sku, sale.phase(), sale.reservedUnits()),
          (first, next) ->
              new InFallback(sku, first.phase(), first.reservedUnits() + next.reservedUnits()));
    }
    return List.copyOf(bySku.values());
  }

  @PostMapping(PATH + "/enter")
  View enter(Operator operator) {
    return audited(
        operator, "fallback-enter", "mode=" + settings.fallback().text(), () -> enterNow(operator));
  }

  private String enterNow(Operator operator) {
    control.enter(operator);
    return "term=" + table.read().term();
  }

  @PostMapping(PATH + "/leave")
  View leave(Operator operator) {
    return audited(
        operator,
        "fallback-leave",
        "mode=" + settings.fallback().text(),
        () -> {
          control.leave();
          return "term=" + table.read().term();
        });
  }

  /**
   * @param failurePercent of a gateway's calls of Redis that open its breaker, 1..100
   * @param failuresPerSecond that are needed besides, 1..100000
   */
  record Settings(Long failurePercent, Long failuresPerSecond) {

    Settings {
      RequestChecks.integer("failurePercent", failurePercent, 1, 100);
      RequestChecks.integer("failuresPerSecond", failuresPerSecond, 1, MOST_FAILURES);
    }
  }

  @PutMapping(PATH + "/settings")
  View set(Operator operator, @JsonBody Settings body) {
    return audited(
        operator,
        "fallback-settings",
        "percent=" + body.failurePercent(),
        () -> {
          table.set(body.failurePercent().intValue(), body.failuresPerSecond().intValue());
          return "failures=" + body.failuresPerSecond();
        });
  }

  @PostMapping("/internal/v1/skus/{sku}/release-reserve")
  View release(@PathVariable String sku, Operator operator) {
    long skuId = PathIds.sku(sku);
    return audited(
        operator,
        "release-reserve",
        "sku=" + skuId,
        () -> "released=" + mysql.transactions().execute(tx -> sales.release(skuId)));
  }

  /** {@code work} returns the text for the audit log. */
  private View audited(Operator operator, String action, String subject, Supplier<String> work) {
    audit.audited(operator, action, subject, work, outcome -> outcome);
    return show();
  }
}
