package io.seckill.consumer.audit;

import io.seckill.consumer.wallet.WalletCheck;
import io.seckill.consumer.wallet.WalletCheck.WalletCheckReport;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Daily audits on the internal port. */
@RestController
@RequestMapping("/internal/v1")
record AuditController(DailyAudit audits, AuditTable table, WalletCheck wallets, AuditLog log) {

  private static final int DEFAULT_LIMIT = 50;

  /** Gateways take answers up to 4 MiB, and each audit may have those of 16 shards. */
  static final int MAX_LIMIT = 80;

  /**
   * @param next value of {@code after} for the next page; null on the last page
   * @param wallets their latest check, on any day; null before the first
   */
  record Page(
      LocalDate day,
      List<SaleAudit> audits,
      @Nullable Long next,
      @Nullable WalletCheckReport wallets) {}

  @GetMapping("/audits")
  Page list(
      @RequestParam(required = false) @Nullable String day,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String after) {
    LocalDate of = day == null ? audits.today() : PathIds.day("day", day);
    int size = PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT);
    List<SaleAudit> page = table.of(of, after == null ? 0 : PathIds.number("after", after), size);
    Long next = page.size() == size ? page.get(size - 1).skuId() : null;
    return new Page(of, page, next, wallets.latest().orElse(null));
  }

  @PostMapping("/skus/{sku}/audit")
  SaleAudit run(@PathVariable String sku, Operator operator) {
    long skuId = PathIds.sku(sku);
    return log.audited(
        operator,
        "audit",
        "sku=" + skuId,
        () -> audits.audit(skuId),
        made -> "differences=" + made.differences().size());
  }
}
