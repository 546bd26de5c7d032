package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The audits of sales, and their file. */
class OpsAuditsIT extends OpsPageFixture {

  @Tag("proof")
  @Test
  void downloadsTheAuditsOfAllSalesAndSaysWhichReadHasFailed() {
    onSale(3017);
    eventually().until(() -> pipeline.admin().audit(3017).status() == 200);
    auditForTomorrow(3017);
    pipeline
        .mysql()
        .execute(
            "INSERT INTO daily_audit (day, sku_id, state, %1$s)".formatted(COUNTS)
                + " WITH RECURSIVE one (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < 1000)"
                + " SELECT day, 395000 + n, state, %1$s FROM daily_audit, one WHERE sku_id = 3017"
                    .formatted(COUNTS));
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#audits-csv");
      List<String> lines = browser.offeredBy("#audits-csv").lines().toList();
      String ofItsDay = "SELECT COUNT(*) FROM daily_audit WHERE day = ?";
      long all = pipeline.mysql().number(ofItsDay, lines.get(1).split(",", -1)[0]);
      assertThat(lines).hasSize((int) all + 1);

      browser.cut("audits?limit=80");
      browser.press("#audits-csv");
      browser.awaitText("#audits-problem", "No file was made (no answer). Try again.");
      browser.cut("audits?limit=20");
      browser.press("#more-audits");
      browser.awaitText("#audits-problem", "The audits could not be read (no answer).");
      assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
      browser.heal();
      eventually().until(() -> !browser.isShown("#audits-problem:not(:empty)"));
    } finally {
      pipeline.mysql().execute("DELETE FROM daily_audit WHERE sku_id BETWEEN 395001 AND 396000");
    }
  }

  /** Also when its row is on no page that is shown. */
  @Tag("proof")
  @Test
  void showsWhatAnAuditHasFoundWhereItSaysWhatWasDone() {
    onSale(3040);
    String stock = "UPDATE products SET stock = stock %s 1 WHERE sku_id = 3040";
    page.open(pipeline.tokens().operator()).choose(3040);
    pipeline.mysql().execute(stock.formatted("+"));
    try {
      page.act("Audit…", "audit SKU 3040: ");

      browser.awaitText("#audit li.bad", "stock is 101; 100 units less 0 sold are 100");
    } finally {
      pipeline.mysql().execute(stock.formatted("-"));
    }
    page.act("Audit…", "audit SKU 3040: no difference");
    assertThat(browser.all("#audit li.bad")).hasSize(1);
  }

  @Tag("proof")
  @Test
  void showsTheAuditsAndTheCheckOfTheWalletsThatWereMadeOvernight() {
    onSale(3044);
    eventually().until(() -> pipeline.admin().audit(3044).status() == 200);
    auditForTomorrow(3044);
    eventually().until(() -> pipeline.admin().checkWallets().status() == 200);
    page.open(pipeline.tokens().operator());
    browser.awaitShown("#audits button");
    try {
      pipeline
          .mysql()
          .execute(
              "INSERT INTO daily_audit (day, sku_id, state, %1$s)".formatted(COUNTS)
                  + " SELECT day, 1, state, %1$s FROM daily_audit WHERE sku_id = 3044"
                      .formatted(COUNTS));
      passAMinute();
      browser.awaitShown("#audits tr[data-audit='1']");

      browser.run("document.querySelector('#audits button').focus();");
      pipeline.mysql().execute("UPDATE wallet_check SET wallets = 123456");
      passAMinute();
      browser.awaitText("#wallet-check", "123456 wallets");
      assertThat(browser.isShown("#audits button:focus")).isTrue();
    } finally {
      pipeline.mysql().execute("DELETE FROM daily_audit WHERE sku_id = 1");
    }
  }
}
