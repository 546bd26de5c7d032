package io.seckill.consumer.fallback;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.RequestChecks;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
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
   * @param salesOfRedis how many Redis decides, each shard once; those that are over do not count
   * @param salesInFallback how many there are, a SKU with shards once
   * @param reservedUnits of them all
   * @param sales at most {@link #MOST_SHOWN} of them, those first that have a reserve
   */
  record View(
      FallbackMode mode,
      @JsonUnwrapped FallbackTable.Row row,
      List<GatewayNode> gateways,
      long salesOfRedis,
      int salesInFallback,
      long reservedUnits,
      List<InFallback> sales) {}

  @GetMapping(PATH)
  View show() {
    Overview now = gateways.overview();
    List<InFallback> all = bySku(sales.all());
    return new View(
        settings.fallback(),
        now.fallback(),
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
    return switched(operator, "fallback-enter", () -> control.enter(operator));
  }

  @PostMapping(PATH + "/leave")
  View leave(Operator operator) {
    return switched(operator, "fallback-leave", control::leave);
  }

  private View switched(Operator operator, String action, Runnable work) {
    return audited(
        operator,
        action,
        "mode=" + settings.fallback().text(),
        () -> {
          work.run();
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
