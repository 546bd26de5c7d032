package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The wallet: its balance, its entries and its statement. */
class ShopWalletIT extends ShopPageFixture {

  /** Also while the entries of the next one cannot be read. */
  @Tag("proof")
  @Test
  void showsNobodyTheEntriesOfTheShopperBefore() {
    onStrongSale(2018, 100);
    page.openFresh(2018).signIn(118);
    page.buy().awaitStatus("CONFIRMED");
    page.pay().awaitStatus("PAID");
    browser.awaitText("#wallet-entries li[data-seq='2']", "Order paid");
    browser.press("#account");
    browser.cut("wallet/entries");

    page.signIn(119);
    browser.awaitText("#wallet-balance", "Balance $100,000.00");

    assertThat(browser.run("return document.querySelector('#wallet-entries').innerText;"))
        .isEqualTo("");
  }

  /** Two services have a setting each. */
  @Tag("proof")
  @Test
  void namesTheCurrencyOfTheWalletWhenPricesHaveAnother() {
    onStrongSale(2050, 100);
    page.openFresh(2050).signIn(150);
    browser.awaitText("#wallet-balance", "Balance $100,000.00");
    browser.awaitShown("#wallet-entries li");

    browser.run("document.documentElement.dataset.currency = 'EUR';");
    browser.press("#language");
    browser.press("#language");

    browser.awaitText("#price", "€");
    assertThat(browser.text("#wallet-balance")).contains("USD", "100,000.00").doesNotContain("€");
    assertThat(browser.text("#wallet-entries li")).contains("USD").doesNotContain("€", "$");
  }

  @Tag("proof")
  @Test
  void paysFromTheBalanceAndHasItBackAfterARefundInBothLanguages() {
    onStrongSale(2017, 100);
    page.openFresh(2017).signIn(117);
    browser.awaitText("#wallet-balance", "Balance $100,000.00");
    page.buy().awaitStatus("CONFIRMED");
    browser.awaitText("#pay-balance", "Balance $100,000.00");
    page.pay().awaitStatus("PAID");
    browser.awaitText("#wallet-balance", "Balance $99,980.01");
    browser.awaitText("#wallet-entries li[data-seq='2']", "Order paid");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.run("document.querySelector('#wallet').scrollIntoView();");
    browser.screenshot("shop-wallet");

    OpsPage ops = new OpsPage(browser, "http://127.0.0.1:" + pipeline.adminPort());
    String order = page.orderId();
    ops.open(pipeline.tokens().operator()).askAboutWallets("Refund a charge…");
    ops.fill("id", order).fill("amount", "20.00").refuse("REFUND_EXCEEDS_CHARGE");
    ops.fill("amount", "19.99").fill("reason", "came broken").confirm("balance 100000.00");
    ops.askAboutWallets("Check all wallets…").confirm("no difference");
    browser.awaitText("#wallet-check", "All checked");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());

    page.open(2017);
    browser.press("#language");
    browser.awaitText("#wallet-balance", "余额 $100,000.00");
    browser.awaitText("#wallet-entries li[data-seq='3']", "退款");
    browser.run("document.querySelector('#wallet').scrollIntoView();");
    browser.screenshot("shop-wallet-chinese");
    assertThat(browser.offeredBy("#statement").lines())
        .hasSize(6)
        .anySatisfy(line -> assertThat(line).contains(",CHARGE,-1999,9998001,", order))
        .last()
        .asString()
        .endsWith(",CLOSING,,10000000,,,");
  }

  @Tag("proof")
  @Test
  void showsEveryEntryOnceWhenAPaymentArrivesWhileOlderOnesAreRead() {
    onStrongSale(2019, 100);
    for (int n = 1; n <= 7; n++) {
      pipeline.admin().recharge(120, 1_000, "recharge-of-page-" + n);
    }
    page.openFresh(2019).signIn(120);
    browser.awaitShown("#more-entries");
    browser.cut("&before=");
    browser.press("#more-entries");
    browser.awaitText("#wallet-problem", "Older entries could not be read.");
    browser.heal();
    browser.hold("&before=");
    browser.press("#more-entries");
    browser.press("#more-entries");
    assertThat(browser.held("&before=")).as("calls of a double click").isOne();
    page.buy().awaitStatus("CONFIRMED");
    page.pay().awaitStatus("PAID");
    browser.awaitText("#wallet-entries li", "Order paid");
    browser.release("&before=");

    eventually()
        .until(
            () -> {
              browser.run("document.querySelector('#more-entries').click();");
              return entriesShown().endsWith(",1");
            });
    String all =
        IntStream.iterate(lastSeq(), seq -> seq > 0, seq -> seq - 1)
            .mapToObj(String::valueOf)
            .collect(Collectors.joining(","));
    assertThat(entriesShown()).isEqualTo(all);
  }

  private static int lastSeq() {
    return Integer.parseInt(entriesShown().split(",", -1)[0]);
  }

  private static String entriesShown() {
    return (String)
        browser.run(
            "return [...document.querySelectorAll('#wallet-entries li')]"
                + ".map((entry) => entry.dataset.seq).join();");
  }

  /** No order is listed, for which the page would read again. */
  @Test
  void readsTheWalletAgainAfterAnOutageThatIsLongerThanItsRepeats() {
    onSale(2066, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2066);
    browser.run(
        """
        const timer = window.setTimeout;
        const shortened = {done: 20, refreshOrdersWhenSeen: 500};
        window.setTimeout = (done, ms) => timer(done, shortened[done.name] ?? ms);
        const send = window.fetch;
        window.lost = 0;
        window.fetch = async (url, ...more) => {
          if (!url.endsWith('v1/wallet') || window.isHealed) return send(url, ...more);
          window.lost++;
          throw new TypeError('cut');
        };
        """);
    page.signIn(2_066_001); // no other class has a wallet of theirs
    eventually().until(() -> (long) browser.run("return window.lost;") > 6);

    browser.run("window.isHealed = true;");

    browser.awaitText("#wallet-balance", "Balance $100,000.00");
  }

  @Test
  void showsTheBalanceForWhichAPaymentIsDeclined() {
    onStrongSale(2057, 100);
    page.openFresh(2057).signIn(157);
    page.buy().awaitStatus("CONFIRMED");
    browser.awaitText("#pay-balance", "Balance $100,000.00");
    browser.awaitShown("#wallet-entries li");
    eventually().until(() -> pipeline.admin().freezeWallet(157).text("state"), "FROZEN"::equals);

    page.pay();

    browser.awaitText("#pay-balance", "frozen: it pays nothing");
    browser.awaitText("#order-text", "You may try again"); // the wallet may be read before
  }
}
