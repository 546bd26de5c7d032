package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.system.Pipeline;
import io.seckill.system.SharedPipeline;
import io.seckill.system.process.Service;
import io.seckill.system.shop.ShopTokens;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openqa.selenium.Keys;
import org.openqa.selenium.interactions.Actions;

/**
 * The shop page, used as by a shopper, mistakes included: Chromium with the three real services.
 */
@ExtendWith({TestServers.class, SharedPipeline.class})
class ShopPageIT {

  private static final Duration NEWS_ARE_SLOW = Duration.ofSeconds(10);

  private static final String RELOADS = "return Number(sessionStorage.getItem('seckill.reloads'));";
  private static final long FIRST_LOAD_BYTES = 100_000;

  private static final String A_DAY_FAST =
      "const now = Date.now; Date.now = () => now() + 86_400_000;";

  private static Pipeline pipeline;
  private static TcpProxy link;
  private static Browser browser;
  private static ShopPage page;

  @BeforeAll
  static void start(Pipeline shared) throws IOException {
    pipeline = shared;
    link = TcpProxy.to("127.0.0.1", pipeline.shopPort());
    browser = Browser.desktop();
    page = new ShopPage(browser, "http://127.0.0.1:" + link.port());
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.open("about:blank");
    }
    if (link != null) {
      link.close();
    }
  }

  @AfterEach
  void noScriptFailedAndNoPolicyWasViolated() {
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void buysToPaid() throws SQLException {
    onSale(2001, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2001);
    browser.awaitText("#availability", "On sale");
    assertThat(browser.text("#price")).isEqualTo("$19.99");
    // The sale closes in a day; during the first second the countdown shows a whole day.
    assertThat(browser.text("#countdown")).matches("(1 d )?\\d+:\\d\\d:\\d\\d");

    page.buy().fillInSignIn(101);
    page.awaitStatus("CONFIRMED");
    browser.awaitText("#order-facts", "Pay within");
    browser.screenshot("shop-confirmed");
    page.pay().awaitStatus("PAID");

    assertThat(browser.text("#order-title")).isEqualTo("Paid. Thank you!");
    String order = page.orderId();
    eventually().until(() -> pipeline.shop().order(101, order).text("status"), "PAID"::equals);
    assertThat(ordersOf(2001)).isOne();
  }

  @Tag("proof")
  @Test
  void confirmsAnOrderOfAStrongSaleAtOnceAndTakesItsPayment() throws SQLException {
    onStrongSale(2014, 100);
    page.openFresh(2014);
    browser.awaitText("#at-once", "confirmed at once");
    page.signIn(114);
    browser.awaitShown("#buy:not([aria-disabled])");
    recordStatuses();

    page.buy().awaitStatus("CONFIRMED");
    browser.awaitText("#order-facts", "Pay within");
    assertThat((String) browser.run("return window.statuses.join();"))
        .startsWith("SENDING,")
        .endsWith(",CONFIRMED")
        .doesNotContain("QUEUED"); // a slow machine may have sent it again
    assertThat(browser.isShown("#step-queued")).as("a step of a queue").isFalse();
    assertThat(browser.text("#order-facts")).doesNotContain("Place in the queue");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.screenshot("shop-strong");
    page.pay().awaitStatus("PAID");
    assertThat(ordersOf(2014)).isOne();

    browser.press("#dismiss");
    page.buy().awaitStatus("CONFIRMED");
    browser.reload();
    page.awaitStatus("CONFIRMED");
    browser.press("#cancel");
    browser.press("#sure-yes");
    page.awaitStatus("CANCELLED");
    assertThat(ordersOf(2014)).isEqualTo(2);
  }

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

  @Test
  void showsNothingOfAShopperWhoHasSignedOutWhenBackBringsThePageAsItWasLeft() {
    onStrongSale(2051, 100);
    page.openFresh(2051).signIn(151);
    page.buy().awaitStatus("CONFIRMED");
    browser.awaitShown("#wallet-entries li");

    browser.run("sessionStorage.removeItem('seckill.token');"); // signed out on a later page
    browser.comeBack();

    browser.awaitText("#account", "Sign in");
    browser.awaitHidden("#order");
    browser.awaitHidden("#wallet");
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

  @Test
  void signsOutAShopperWhoseTokenHasExpiredWhenMoreOfTheWalletIsAskedFor() {
    onSale(2068, PurchasePolicy.LIMITED, 5, 100);
    for (int n = 1; n <= 6; n++) {
      pipeline.admin().recharge(168, 1_000, "recharge-before-the-end-" + n);
    }
    page.openFresh(2068);
    browser.run(
        """
        const send = window.fetch;
        window.fetch = (url, options) => {
          const isExpired = window.expired && url.includes('wallet/entries');
          if (isExpired) options.headers.Authorization = `Bearer ${window.expired}`;
          return send(url, options);
        };
        """);
    for (String button : List.of("#more-entries", "#statement")) {
      page.signIn(168);
      browser.awaitShown("#more-entries");
      browser.run("window.expired = arguments[0];", expiredTokenOf(168));

      browser.press(button);

      browser.awaitText("#account", "Sign in");
      browser.awaitHidden("#wallet");
      browser.run("window.expired = null;");
    }
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

  @Tag("proof")
  @Test
  void readsOrdersAndWalletAgainAfterAFailure() {
    onSale(2020, PurchasePolicy.LIMITED, 5, 100);
    assertThat(pipeline.shop().buy(121, 2020, 1, "before-the-failure").status()).isEqualTo(202);
    page.openFresh(2020);
    browser.run(
        """
        const send = window.fetch;
        const failed = new Set();
        window.fetch = async (url, ...more) => {
          const read = ['v1/orders?', 'wallet/entries', 'wallet'].find((one) => url.includes(one));
          if (!read || failed.has(read)) return send(url, ...more);
          failed.add(read);
          return new Response('{}', {status: 503});
        };
        """);

    page.signIn(121);

    browser.awaitText("#order-list", "SKU 2020");
    browser.awaitShown("#wallet-entries li[data-seq='1']");
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

  @Tag("proof")
  @Test
  void buysWithAClockThatIsADayFast() throws SQLException {
    onSale(2021, PurchasePolicy.LIMITED, 5, 100);
    withAClockThatIsADayFast(
        () -> page.openFresh(2021).buy().fillInSignIn(122).awaitStatus("CONFIRMED"));
    assertThat(ordersOf(2021)).isOne();
  }

  @Tag("proof")
  @Test
  void signsInAndPaysWithAClockThatIsADayFastBeforeTheProductIsRead() {
    onStrongSale(2063, 100);
    page.openFresh(2063).signIn(163).buy().awaitStatus("CONFIRMED");
    browser.press("#account");
    String cut =
        """
        const send = window.fetch;
        window.fetch = async (url, ...more) => {
          if (/v1\\/skus\\/2063$/.test(url)) throw new TypeError('cut');
          return send(url, ...more);
        };
        """;
    withScript(A_DAY_FAST + cut, browser::reload);

    page.signIn(163).awaitStatus("CONFIRMED");
    assertThat(browser.text("#order-facts")).doesNotContain("Pay within");
    page.pay().awaitStatus("PAID");
    assertThat(browser.isShown("#product")).isFalse();
  }

  private static void withAClockThatIsADayFast(Runnable opening) {
    withScript(A_DAY_FAST, opening);
  }

  /** Lets a script run first in the pages that are opened meanwhile. */
  private static void withScript(String script, Runnable opening) {
    Map<String, Object> first = Map.of("source", script);
    Map<String, Object> added =
        browser.driver().executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", first);
    try {
      opening.run();
    } finally {
      browser.driver().executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", added);
    }
  }

  @Test
  void buysAsTheShopperOfALinkAndPaysAfterALinkHasRenewedTheToken() throws SQLException {
    onSale(2058, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2058);
    browser.open("about:blank"); // else the page stays open

    page.openLink(2058, pipeline.tokens().shopper(158));
    browser.awaitText("#account", "Sign out shopper 158");
    page.buy().awaitStatus("CONFIRMED");
    browser.run("sessionStorage.setItem('seckill.token', arguments[0]);", expiredTokenOf(158));
    page.openLink(2058, pipeline.tokens().shopper(158)).pay().awaitStatus("PAID");

    assertThat(ordersOf(2058)).isOne();
  }

  @Test
  void keepsTheShopperWhoIsSignedInWhenALinkHasTheTokenOfAnother() {
    onSale(2059, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2059).signIn(159).openLink(2059, pipeline.tokens().shopper(160));

    assertThat(browser.text("#account")).isEqualTo("Sign out shopper 159");
    page.buy().awaitStatus("CONFIRMED");
    assertThat(pipeline.shop().order(159, page.orderId()).status()).isEqualTo(200);
  }

  @Test
  void refusesTheTokenOfALinkThatHasExpiredByTheServersClockOnly() {
    onSale(2060, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2060).openLink(2060, expiredTokenOf(161));
    browser.awaitText("#sign-in-problem", "This token has expired.");

    withAClockThatIsADayFast(() -> page.openLink(2060, pipeline.tokens().shopper(161)));
    browser.awaitText("#account", "Sign out shopper 161");
    assertThat(browser.isShown("#sign-in")).isFalse();
  }

  @Tag("proof")
  @Test
  void saysInBothLanguagesThatATokenHasExpired() {
    onSale(2022, PurchasePolicy.LIMITED, 5, 100);
    String expired = expiredTokenOf(123);
    page.openFresh(2022);
    browser.run("document.documentElement.dataset.demo = 'off';");
    page.buy();
    browser.awaitShown("#token");
    browser.type("#token", expired);
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#sign-in-problem", "This token has expired.");
    browser.press("#sign-in-close");
    browser.press("#language");
    page.buy();
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#sign-in-problem", "令牌已过期");
    browser.press("#sign-in-close");
    browser.press("#language");

    browser.run("document.documentElement.dataset.demo = 'on';");
    browser.run("sessionStorage.setItem('seckill.token', arguments[0]);", expired);
    page.buy();
    browser.awaitText("#sign-in-problem", "Please sign in again");
    page.fillInSignIn(123).awaitStatus("CONFIRMED");
  }

  /** A browser sends no such token, which looks like no answer. */
  @Test
  void takesNoTokenWithAnInvisibleCharacter() {
    onSale(2054, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2054);
    browser.run("document.documentElement.dataset.demo = 'off';");
    browser.press("#account");
    browser.awaitShown("#token");
    browser.paste("#token", pipeline.tokens().shopper(154) + "\u200b");
    browser.press("#sign-in-form button[type=submit]");

    browser.awaitText("#sign-in-problem", "This is no shopper’s token.");
  }

  private static String expiredTokenOf(long user) {
    return new ShopTokens("0".repeat(32), Duration.ofDays(-1)).shopper(user);
  }

  /**
   * The first call has made the order, but its answer was lost; the token expires before the
   * second.
   */
  @Tag("proof")
  @Test
  void keepsAPurchaseOfUnknownOutcomeUntilTheShopperSignsInAgain() throws SQLException {
    onSale(2026, PurchasePolicy.LIMITED, 5, 100);
    try (Browser phone = Browser.phone("en-US")) {
      ShopPage shop = new ShopPage(phone, "http://127.0.0.1:" + link.port());
      shop.open(2026).signIn(127);
      phone.awaitShown("#buy:not([aria-disabled])");
      phone.run(
          """
          const [expired] = arguments;
          const send = window.fetch;
          let sent = 0;
          window.fetch = async (url, options) => {
            if (options.method !== 'POST' || !url.endsWith('/2026/orders')) return send(url, options);
            if (sent++ > 0) options.headers.Authorization = `Bearer ${expired}`;
            const answer = await send(url, options);
            if (answer.status === 401) return answer;
            throw new TypeError('cut');
          };
          """,
          expiredTokenOf(127));

      shop.buy();
      phone.awaitText("#sign-in-problem", "Please sign in again");
      phone.press("#sign-in-close");
      shop.awaitStatus("SIGNEDOUT");
      assertThat(phone.text("#order-title")).isEqualTo("Your order waits for you to sign in");
      assertThat(phone.isEnabled("#buy")).as("a second purchase").isFalse();
      assertThat(phone.accessibilityFaults()).isEqualTo(List.of());
      phone.run("document.querySelector('#order').scrollIntoView();");
      phone.screenshot("shop-signed-out");
      phone.press("#go-on");
      phone.awaitShown("#user:focus");
      phone.find("#user").sendKeys(Keys.ESCAPE);
      phone.awaitHidden("#sign-in");
      phone.press("#language");
      phone.awaitText("#order-title", "请登录以继续处理您的订单");
      phone.run("document.querySelector('#order').scrollIntoView();");
      phone.screenshot("shop-signed-out-chinese");

      phone.reload();
      phone.awaitShown("#buy:not([aria-disabled])");
      shop.buy().fillInSignIn(127).awaitStatus("CONFIRMED");
      assertThat(ordersOf(2026)).isOne();
      assertThat(phone.complaints()).isEmpty();
    }
  }

  /** As from firewalls, ingresses and sign-in pages of a network; the first answer is lost. */
  @Tag("proof")
  @Test
  void takesNoAnswerOfAnotherServerForOneOfTheShop() throws SQLException {
    onSale(2028, PurchasePolicy.UNLIMITED, 0, 100);
    page.openFresh(2028).signIn(129);
    browser.awaitShown("#buy:not([aria-disabled])");
    answerPurchases(
        """
        const others = [null, new Response('<p>blocked', {status: 404}), new Response('<p>welcome')];
        const follows = [404, 404, 200, 200].map((status) => new Response('<p>', {status}));
        window.answer = async (purchase, send) => {
          const other = (purchase ? others : follows).shift();
          if (other) return other;
          const answer = await send();
          if (other === null) throw new TypeError('cut');
          return answer;
        };
        """);

    page.buy().awaitStatus("CONFIRMED");

    assertThat(ordersOf(2028)).isOne();
    assertThat(browser.run("return window.sent;")).as("purchases sent").isEqualTo(4L);
  }

  @Tag("proof")
  @Test
  void pausesBetweenPurchasesWhenAProxySendsADateOrYearsAsRetryAfter() {
    onSale(2029, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2029).signIn(130);
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.run(
        """
        const timer = window.setTimeout;
        window.waits = [];
        window.setTimeout = (done, ms) => {
          window.waits.push(ms);
          return timer(done, Math.min(ms, 2000));
        };
        """);
    answerPurchases(
        """
        const dates = ['Wed, 21 Oct 2026 07:28:00 GMT', '4000000', 'Infinity'];
        window.answer = async (purchase, send) => {
          const date = purchase && dates.shift();
          return date ? new Response('', {status: 503, headers: {'Retry-After': date}}) : send();
        };
        """);

    page.buy().awaitStatus("CONFIRMED");

    assertThat(browser.run("return window.sent;")).as("purchases sent").isEqualTo(4L);
    // A browser fires at once what is to wait for NaN ms, or for 2^31 ms and more.
    assertThat(browser.run("return window.waits.every((ms) => ms >= 0 && ms < 2 ** 31);"))
        .as("waits that a browser keeps")
        .isEqualTo(true);
  }

  /** While gateways are upgraded, files of a page may come from two versions of it. */
  @Tag("proof")
  @Test
  void loadsThePageAgainWhenItsModulesDoNotStart() {
    onSale(2037, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2037);
    block("*/clock.js");
    browser.reload();
    try {
      eventually().ignoreExceptions().until(() -> (long) browser.run(RELOADS) > 1);
      assertThat(browser.isShown("#product")).isFalse();
    } finally {
      block();
    }

    browser.awaitShown("#product");
    eventually().until(() -> (long) browser.run(RELOADS) == 0);
    browser.complaints();
  }

  /** Without it neither page starts. */
  @Test
  void asksForSiteDataWhereTheBrowserRefusesIt() {
    try (Browser strict = Browser.withoutSiteData()) {
      strict.open("http://127.0.0.1:" + link.port());
      strict.awaitText("#away", "needs cookies and site data");

      strict.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
      strict.awaitText("#away", "needs cookies and site data");
    }
  }

  private static void block(String... urls) {
    browser.driver().executeCdpCommand("Network.enable", Map.of());
    Map<String, Object> uncached = Map.of("cacheDisabled", urls.length > 0);
    browser.driver().executeCdpCommand("Network.setCacheDisabled", uncached);
    browser.driver().executeCdpCommand("Network.setBlockedURLs", Map.of("urls", List.of(urls)));
  }

  /** A gateway refuses streams above a number of them, or to a user who has several. */
  @Tag("proof")
  @Test
  void asksMoreAndMoreSeldomWhileItsStreamIsRefused() {
    onSale(2034, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2034).signIn(134);
    browser.awaitShown("#buy:not([aria-disabled])");
    recordPausesOf("done");
    answerPurchases(
        """
        window.answer = async (purchase, send) => {
          const answer = await send();
          const isStream = /event-stream/.test(answer.headers.get('Content-Type'));
          return isStream ? new Response('', {status: 503, headers: {'Retry-After': '1'}}) : answer;
        };
        """);

    page.buy().awaitStatus("CONFIRMED");
    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 8);

    assertThat(browser.run("return window.waits.slice(5).every((ms) => ms >= 4000);"))
        .isEqualTo(true);
  }

  @Tag("proof")
  @Test
  void keepsThePaymentWhenAnOlderReadIsAnsweredAfterIt() {
    onStrongSale(2042, 100);
    page.openFresh(2042).signIn(142);
    browser.awaitShown("#buy:not([aria-disabled])");
    answerPurchases(
        """
        window.answer = async (purchase, send) => {
          const answer = await send();
          const isStream = /event-stream/.test(answer.headers.get('Content-Type'));
          return isStream ? new Response('', {status: 503}) : answer;
        };
        """);
    page.buy().awaitStatus("CONFIRMED");
    String read = "/orders/" + page.orderId();
    browser.holdAnswer(read);
    eventually().until(() -> browser.held(read) == 1);
    page.pay().awaitStatus("PAID");

    browser.releaseAnswer(read);

    assertThat(browser.isShown("#order[data-status=PAID]")).isTrue();
  }

  @Tag("proof")
  @Test
  void keepsSoldOutWhenAnOlderReadOfTheProductIsAnsweredAfterIt() {
    onSale(2043, PurchasePolicy.ONE_PER_USER, 1, 1);
    page.openFresh(2043).signIn(143);
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.holdAnswer("v1/skus/2043");
    eventually().until(() -> browser.held("v1/skus/2043") == 1);
    assertThat(pipeline.shop().buy(9143, 2043, 1, "the-last-unit").status()).isEqualTo(202);
    page.buy();
    browser.awaitText("#availability", "Sold out");

    browser.releaseAnswer("v1/skus/2043");

    assertThat(browser.text("#availability")).isEqualTo("Sold out");
  }

  @Tag("proof")
  @Test
  void readsTheProductNoMoreOftenWhenItIsRefused() {
    onSale(2035, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2035);
    browser.awaitShown("#buy:not([aria-disabled])");
    recordPausesOf("refreshWhenSeen");
    browser.run(
        """
        const send = window.fetch;
        window.fetch = async (url, options) =>
          /skus\\/2035$/.test(url) ? new Response('', {status: 429}) : send(url, options);
        """);

    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 8);

    assertThat(browser.run("return window.waits.every((ms) => ms >= 6000);")).isEqualTo(true);
  }

  /** It says that it tries again, and reads this product about every minute otherwise. */
  @Test
  void readsAProductAgainSoonAfterAFailureAndThenMoreAndMoreSeldom() {
    onSaleFrom(Instant.now().plus(Duration.ofDays(1)), Duration.ofHours(1), 2067);
    page.openFresh(2067);
    openRecordingPausesOf("refreshWhenSeen", "/?sku=2067");
    browser.awaitShown("#product");
    browser.run("window.waits = [];");
    browser.cut("v1/skus/2067");
    browser.awaitText("#away", "Trying again");
    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 6);

    assertThat(
            browser.run(
                """
                const [first, second, ...more] = window.waits.filter((ms) => ms < 45000);
                return first <= 16000 && second > 16000 && second <= 32000 && more.length === 0;
                """))
        .isEqualTo(true);
    browser.heal();
    browser.awaitHidden("#away");
  }

  /** Records in {@code window.waits} how long a function is to wait, and shortens the waits. */
  private static void recordPausesOf(String function) {
    browser.run(
        """
        const timer = window.setTimeout;
        const recorded = arguments[0];
        window.waits = [];
        window.setTimeout = (done, ms) => {
          if (done.name !== recorded) return timer(done, ms);
          window.waits.push(ms);
          return timer(done, 20);
        };
        """,
        function);
  }

  @Tag("proof")
  @Test
  void sellsFromTheOpeningWhenTheOperatorOpensTheSaleAfterThePageWasLoaded() {
    Instant opening = Instant.now().plusSeconds(20);
    pipeline.admin().preheatOpeningAt(opening, 2038, 50);
    withScript("Math.random = () => 0.99;", () -> page.openFresh(2038).signIn(138));
    eventually().until(() -> pipeline.admin().open(2038).status() == 200);

    eventually()
        .atMost(Duration.between(Instant.now(), opening.plusSeconds(15)))
        .until(() -> browser.isEnabled("#buy"));
    page.buy().awaitStatus("CONFIRMED");
  }

  @Tag("proof")
  @Test
  void movesASaleThatHasOpenedToThoseOnSaleWithoutAReload() {
    onSaleFrom(Instant.now().plusSeconds(20), Duration.ofHours(1), 2044);
    openRecordingPausesOf("refreshWhenSeen", "/");
    browser.awaitShown("#coming-list a[href='?sku=2044']");
    browser.awaitShown("#product-list a[href='?sku=2044']");
    browser.awaitHidden("#coming-list a[href='?sku=2044']");

    browser.run("document.querySelector('#product-list a').focus(); window.waits = [];");
    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 3);
    assertThat(browser.isShown("#product-list a:focus")).isTrue();
    assertAMinuteBetweenReads();
  }

  /**
   * Opens a page and records in {@code window.waits} how long a function is to wait, in {@code
   * window.waiting} its timers that run; shortens the waits.
   */
  private static void openRecordingPausesOf(String function, String address) {
    String often =
        """
        const timer = window.setTimeout;
        const clear = window.clearTimeout;
        window.waits = [];
        window.waiting = new Set();
        window.setTimeout = (done, ms) => {
          if (done.name !== '%s') return timer(done, ms);
          window.waits.push(ms);
          const id = timer(() => {
            window.waiting.delete(id);
            done();
          }, 500);
          window.waiting.add(id);
          return id;
        };
        window.clearTimeout = (id) => {
          window.waiting.delete(id);
          clear(id);
        };
        """;
    String url = "http://127.0.0.1:" + link.port() + address;
    withScript(often.formatted(function), () -> browser.open(url));
  }

  /** With jitter: shoppers do not read at the same moment. */
  private static void assertAMinuteBetweenReads() {
    assertThat(browser.run("return window.waits.every((ms) => ms >= 45000 && ms <= 75000);"))
        .isEqualTo(true);
  }

  @Test
  void showsAProductThatIsCreatedAfterThePageWasLoaded() {
    openRecordingPausesOf("refreshWhenSeen", "/?sku=2090");
    browser.awaitText("#away", "There is no such product.");
    browser.run("window.waits = [];"); // a busy gateway may have refused the first reads
    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 2);
    assertAMinuteBetweenReads();
    onSale(2090, PurchasePolicy.LIMITED, 5, 100);

    browser.awaitText("#name", "SKU 2090");
    browser.awaitHidden("#away");
  }

  /** No stream follows an order that is only listed. */
  @Test
  void readsTheOrdersAgainWhileThePageIsSeenUntilAllAreFinal() {
    long user = 2_056_001; // whom no other class lets buy what is never paid
    onStrongSale(2056, 100);
    String order = pipeline.shop().buy(user, 2056, 1, "paid-elsewhere").text("orderId");
    page.openFresh(2056).signIn(user);
    openRecordingPausesOf("refreshOrdersWhenSeen", "/");
    browser.cut("v1/orders");
    eventually() // at most two reads were answered or begun before the cut
        .until(() -> (long) browser.run("return window.waits.length;") >= 4);
    browser.heal();
    browser.awaitText("#order-list", "To be paid");
    assertAMinuteBetweenReads();

    browser.run("document.querySelector('#order-list button').focus(); window.waits = [];");
    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 3);
    assertThat(browser.isShown("#order-list button:focus")).isTrue();

    browser.run("Object.defineProperty(document, 'hidden', {configurable: true, value: true});");
    eventually().until(() -> ordersTimers() == 0);
    eventually().until(() -> pipeline.shop().pay(user, order).status() == 200);
    browser.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'));");

    browser.awaitText("#order-list", "Paid");
    browser.awaitText("#wallet-balance", "Balance $99,980.01");
    eventually("the last read; a list that may be incomplete is read again")
        .until(() -> ordersTimers() == 0);
  }

  private static long ordersTimers() {
    return (Long) browser.run("return window.waiting.size;");
  }

  /** By the server's clock, and long before the minute of its next read. */
  @Tag("proof")
  @Test
  void setsItsClockRightAfterTheMachineHasSlept() {
    onSaleFrom(Instant.now().plusSeconds(150), Duration.ofDays(2), 2036);
    withAClockThatIsADayFast(() -> page.openFresh(2036));
    browser.awaitText("#timer-label", "Opens in");

    sleepAnHour();
    browser.run("document.querySelector('#countdown').textContent = '';");

    eventually()
        .atMost(Duration.ofSeconds(30))
        .until(() -> browser.text("#countdown"), time -> time.matches("[0-2]:\\d\\d"));
  }

  @Test
  void judgesNothingByTheDevicesClockAfterTheMachineHasSlept() {
    Instant before = Instant.now().minus(Duration.ofMinutes(121)); // also an hour ago it was open
    onSaleFrom(before, Duration.ofHours(4), 2065);
    withAClockThatIsADayFast(() -> page.openFresh(2065));
    browser.awaitText("#availability", "On sale");
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.awaitShown("#countdown");
    browser.hold("v1/skus/2065");

    sleepAnHour();
    browser.awaitHidden("#countdown");

    assertThat(browser.text("#availability")).isEqualTo("On sale");
    assertThat(browser.text("#timer-label")).isEqualTo("Closes in");
    assertThat(browser.isEnabled("#buy")).isTrue();
    browser.release("v1/skus/2065");
    eventually().until(() -> browser.text("#countdown"), time -> time.matches("1:5\\d:\\d\\d"));
  }

  @Tag("proof")
  @Test
  void followsItsOrderAnewAfterTheMachineHasSlept() {
    onStrongSale(2064, 100);
    page.openFresh(2064).signIn(164).buy().awaitStatus("CONFIRMED");
    browser.run(
        """
        const send = window.fetch;
        window.streams = 0;
        window.fetch = (url, options) => {
          if (url.endsWith('/events')) window.streams++;
          return send(url, options);
        };
        """);

    sleepAnHour();

    eventually()
        .atMost(Duration.ofSeconds(30))
        .until(() -> (long) browser.run("return window.streams;") > 0);
    assertThat(browser.isShown("#order[data-status=CONFIRMED]")).isTrue();
  }

  /** A browser's {@code performance.now()} stands still while the machine sleeps. */
  private static void sleepAnHour() {
    browser.run(
        """
        const real = performance.now.bind(performance);
        performance.now = () => real() - 3_600_000;
        """);
  }

  /**
   * Lets a script's {@code window.answer(isPurchase, send)} answer purchases and reads of orders;
   * {@code window.sent} counts purchases.
   */
  private static void answerPurchases(String script) {
    browser.run(
        script
            + """
            const send = window.fetch;
            window.sent = 0;
            window.fetch = (url, options) => {
              const purchase = options.method === 'POST' && /skus\\/[0-9]+\\/orders$/.test(url);
              if (purchase) window.sent++;
              else if (!/v1\\/orders\\/[0-9]+/.test(url)) return send(url, options);
              return window.answer(purchase, () => send(url, options));
            };
            """);
  }

  @Tag("proof")
  @Test
  void showsNothingOfAShopperWhoseTokenExpiresBeforeThePayment() {
    onStrongSale(2027, 100);
    assertThat(pipeline.shop().buy(128, 2027, 1, "another-order").status()).isEqualTo(201);
    page.openFresh(2027).signIn(128);
    page.buy().awaitStatus("CONFIRMED");
    browser.awaitShown("#order-list li");
    browser.awaitShown("#wallet-entries li");
    browser.run("sessionStorage.setItem('seckill.token', arguments[0]);", expiredTokenOf(128));

    page.pay();
    browser.awaitText("#sign-in-problem", "Please sign in again");
    assertThat(browser.isShown("#order-list li")).isFalse();
    assertThat(browser.isShown("#wallet-entries li")).isFalse();
    browser.press("#sign-in-close");
    page.awaitStatus("SIGNEDOUT");
    assertThat(browser.text("#order-facts")).isEmpty();

    browser.press("#go-on");
    page.fillInSignIn(128).awaitStatus("CONFIRMED");
    page.pay().awaitStatus("PAID");
  }

  @Tag("proof")
  @Test
  void goesOnWithAPurchaseOfUnknownOutcomeInsteadOfAnEarlierOrder() throws SQLException {
    onSale(2023, PurchasePolicy.LIMITED, 5, 100);
    onSale(2024, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2024).signIn(124).buy().awaitStatus("CONFIRMED");
    String earlier = page.orderId();
    browser.run("sessionStorage.removeItem('seckill.intention.124.2024');");
    browser.reload();
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.hold("/2024/orders");
    page.buy().awaitStatus("SENDING");
    page.open(2023);
    browser.press("#order-list button[aria-label='Show " + earlier + "']");

    page.awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isNotEqualTo(earlier);
    assertThat(ordersOf(2024)).isEqualTo(2);
  }

  @Tag("proof")
  @Test
  void showsTheOrderOfAnotherSaleWhileAPurchaseIsRetriedAndGoesOnWithThatLater()
      throws SQLException {
    onSale(2061, PurchasePolicy.LIMITED, 5, 100);
    onSale(2062, PurchasePolicy.LIMITED, 5, 100);
    String other = pipeline.shop().buy(162, 2061, 1, "of-another-sale").text("orderId");
    String same = pipeline.shop().buy(162, 2062, 1, "of-the-same-sale").text("orderId");
    eventually().until(() -> ordersOf(2061) + ordersOf(2062) == 2);
    page.openFresh(2062).signIn(162);
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.loseAnswers("/2062/orders");
    page.buy().awaitStatus("RETRYING");

    browser.press("#order-list button[aria-label='Show " + same + "']");
    browser.awaitShown("#order-title:focus");
    assertThat(browser.isShown("#order[data-status=RETRYING]")).isTrue();
    show(other);

    page.open(2062).awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isNotEqualTo(same);
    assertThat(ordersOf(2062)).isEqualTo(2);
  }

  @Tag("proof")
  @Test
  void keepsAPurchaseOfUnknownOutcomeWhileAnotherShopperBuys() throws SQLException {
    onSale(2025, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2025).signIn(125);
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.hold("/2025/orders");
    page.buy().awaitStatus("SENDING");
    browser.press("#account");
    browser.release("/2025/orders");
    page.signIn(126).buy().awaitStatus("CONFIRMED");
    browser.press("#account");

    page.signIn(125).awaitStatus("CONFIRMED");
    assertThat(ordersOf(2025)).isEqualTo(2);
  }

  /** Each status that the order's card has from now on, in {@code window.statuses}. */
  private static void recordStatuses() {
    browser.run(
        "window.statuses = [];"
            + " new MutationObserver(() => {"
            + "   const {status} = document.querySelector('#order').dataset;"
            + "   if (window.statuses.at(-1) !== status) window.statuses.push(status);"
            + " }).observe(document.querySelector('#order'), {attributeFilter: ['data-status']});");
  }

  @Test
  void buysOnceByADoubleClickAndPaysNothingByAccident() throws SQLException {
    onSale(2002, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2002).signIn(102);
    browser.awaitShown("#buy:not([aria-disabled])");

    new Actions(browser.driver())
        .doubleClick(browser.find("#buy"))
        .click(browser.find("#buy"))
        .perform();

    page.awaitStatus("CONFIRMED");
    assertThat(ordersOf(2002)).isOne();
    assertThat(browser.isEnabled("#buy")).isFalse();
  }

  @Test
  void goesOnWithTheSameOrderAfterAReloadInMidFlight() throws SQLException {
    onSale(2003, PurchasePolicy.UNLIMITED, 0, 100);
    page.openFresh(2003).signIn(103);
    browser.awaitShown("#buy:not([aria-disabled])");
    link.dropToClient(true); // the purchase is made, its answer is lost
    try {
      page.buy();
      browser.awaitShown("#order:is([data-status=SENDING],[data-status=RETRYING])");
      eventually().until(() -> ordersOf(2003) == 1);
    } finally {
      link.dropToClient(false);
    }
    browser.reload();

    page.awaitStatus("CONFIRMED");
    assertThat(ordersOf(2003)).isOne();

    String order = page.orderId();
    browser.reload();
    page.awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isEqualTo(order);
  }

  @Test
  void repeatsWithTheSameKeyOverALostConnectionAndFollowsTheOrderWhenItIsBack()
      throws SQLException {
    onSale(2004, PurchasePolicy.UNLIMITED, 0, 100);
    page.openFresh(2004).signIn(104);
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.run(
        "const wait = AbortSignal.timeout; AbortSignal.timeout = (ms) => wait.call(AbortSignal, ms / 4);");
    Object key = intendAndBlockTheSecondCall();
    link.dropToClient(true);
    try {
      page.buy();
      page.awaitStatus("RETRYING");
      assertThat(browser.text("#order-text")).contains("cannot buy twice");
    } finally {
      link.dropToClient(false);
    }
    page.awaitStatus("CONFIRMED");
    assertThat(ordersOf(2004)).isOne();
    assertThat((List<?>) browser.run("return keys;"))
        .hasSizeGreaterThanOrEqualTo(3)
        .allMatch(key::equals);

    link.reset();
    String order = page.orderId();
    eventually() // from another device
        .until(() -> pipeline.shop().pay(104, order).text("status"), "PAID"::equals);
    page.awaitStatus("PAID");
  }

  /**
   * An intention that is kept, also beside another order; and a firewall, whose answer has no code.
   * Returns the key.
   */
  private static Object intendAndBlockTheSecondCall() {
    return browser.run(
        """
        const send = window.fetch;
        window.keys = [];
        window.fetch = async (url, options) => {
          if (!/2004\\/orders$/.test(url)) return send(url, options);
          const calls = keys.push(options.headers['Idempotency-Key']);
          return calls === 2 ? new Response('blocked', {status: 404}) : send(url, options);
        };
        return import(document.querySelector('link[href$="/purchase.js"]').href).then(({adopt, intend}) => {
          intend(2004, '104', 1);
          return adopt(2004, '104', '4711').key;
        });
        """);
  }

  @Tag("proof")
  @Test
  void buysOnceWhenRedisForgetsTheOrderOnItsWayToTheLedger() throws SQLException {
    onSale(2012, PurchasePolicy.UNLIMITED, 0, 100);
    page.openFresh(2012).signIn(112);
    pipeline.stop(Service.CONSUMER);
    try {
      page.buy().awaitStatus("QUEUED");
      String first = page.orderId();
      forget(2012, 112);
      eventually().until(() -> !page.orderId().equals(first));
    } finally {
      pipeline.run(Service.CONSUMER);
    }
    page.awaitStatus("CONFIRMED");
    assertThat(ordersOf(2012)).isOne();
  }

  @Tag("proof")
  @Test
  void showsAnotherOrderWhileOneIsQueuedAndGoesOnWithThatAfterAReload() throws SQLException {
    onSale(2052, PurchasePolicy.UNLIMITED, 0, 100);
    onSale(2055, PurchasePolicy.UNLIMITED, 0, 100);
    String earlier = pipeline.shop().buy(152, 2052, 1, "an-earlier-order").text("orderId");
    eventually().until(() -> ordersOf(2052) == 1);
    page.openFresh(2052).signIn(152);
    pipeline.stop(Service.CONSUMER);
    try {
      page.buy().awaitStatus("QUEUED");
      String queued = page.orderId();
      show(earlier);
      page.open(2055);
      show(earlier);
      forget(2052, 152);
      browser.reload();
      page.awaitStatus("QUEUED");
      assertThat(page.orderId()).isNotEqualTo(queued);
    } finally {
      pipeline.run(Service.CONSUMER);
    }
    page.awaitStatus("CONFIRMED");
    assertThat(ordersOf(2052)).isEqualTo(2);
  }

  /** Redis has lost the order before another one was shown; without its key it is bought twice. */
  @Test
  void goesOnWithAnOrderWithoutAResultAfterAnotherOneWasShownAndPaid() {
    onSale(2053, PurchasePolicy.UNLIMITED, 0, 100);
    String earlier = pipeline.shop().buy(153, 2053, 1, "an-earlier-order").text("orderId");
    page.openFresh(2053).signIn(153);
    String lost = OrderId.of(System.currentTimeMillis(), Partition.ofSku(2053), 200, 1).toString();
    browser.run(
        "sessionStorage.setItem('seckill.intention.153.2053', JSON.stringify("
            + "{sku: 2053, user: '153', quantity: 1, key: 'of-a-lost-order',"
            + " orderId: arguments[0]}));",
        lost);

    show(earlier);
    browser.run("sessionStorage.setItem('seckill.token', arguments[0]);", expiredTokenOf(153));
    page.pay();
    browser.awaitText("#sign-in-problem", "Please sign in again");
    browser.press("#sign-in-close");
    browser.press("#go-on");
    page.fillInSignIn(153).awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isEqualTo(earlier);
    page.pay().awaitStatus("PAID");
    browser.press("#dismiss");
    page.buy().awaitStatus("CONFIRMED");

    assertThat(pipeline.shop().buy(153, 2053, 1, "of-a-lost-order").text("orderId"))
        .isEqualTo(page.orderId());
  }

  @Tag("proof")
  @Test
  void showsThatAnOrderIsNotKnownWhenThereIsNoKeyToSendAgain() throws SQLException {
    onSale(2013, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2013).signIn(113);
    String lost = OrderId.of(System.currentTimeMillis(), Partition.ofSku(2013), 200, 1).toString();
    browser.run(
        "sessionStorage.setItem('seckill.intention.113.2013', JSON.stringify("
            + "{sku: 2013, user: '113', quantity: 0, key: null, orderId: arguments[0]}));",
        lost);
    browser.reload();

    page.awaitStatus("GONE");
    assertThat(browser.text("#order-title")).isEqualTo("This order is not known any more");
    assertThat(browser.find("#announce").getDomProperty("textContent")).contains("not known");
    browser.press("#language");
    browser.awaitText("#order-title", "找不到这个订单了");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    page.buy().awaitStatus("CONFIRMED");
    assertThat(ordersOf(2013)).isOne();
  }

  @Tag("proof")
  @Test
  void tellsTheSecondOfTwoShoppersThatTheLastUnitIsGone() throws SQLException {
    onSale(2005, PurchasePolicy.ONE_PER_USER, 1, 1);
    page.openFresh(2005).signIn(105);
    browser.awaitText("#rule", "One for each shopper");
    link.delay(NEWS_ARE_SLOW); // otherwise the page may know before the button is pressed
    try {
      assertThat(pipeline.shop().buy(9105, 2005, 1, "the-other-shopper").status()).isEqualTo(202);
      page.buy();
    } finally {
      link.heal();
    }
    browser.awaitText("#order-text", "Sold out: others were faster");
    browser.awaitText("#availability", "Sold out");
    assertThat(browser.isEnabled("#buy")).isFalse();
    browser.press("#dismiss");
    browser.awaitHidden("#order");
    assertThat(ordersOf(2005)).isOne();
  }

  @Tag("proof")
  @Test
  void saysThatTheLimitIsReachedAndHowManyAreTooMany() {
    onSale(2006, PurchasePolicy.LIMITED, 2, 100);
    page.openFresh(2006).signIn(106);
    assertThat(pipeline.shop().buy(106, 2006, 1, "another-device").status()).isEqualTo(202);
    browser.type("#quantity", "3");
    page.buy();
    browser.awaitText("#buy-problem", "from 1 to 2");

    browser.type("#quantity", "2");
    page.buy();
    browser.awaitText("#order-text", "more than one shopper may buy");
    browser.type("#quantity", "1");
    page.buy().awaitStatus("CONFIRMED");
  }

  @Tag("proof")
  @Test
  void paysAnOrderThatEightNewerOnesFollow() throws SQLException {
    onSale(2039, PurchasePolicy.UNLIMITED, 0, 100);
    String oldest = pipeline.shop().buy(139, 2039, 1, "order-number-1").text("orderId");
    for (int n = 2; n <= 9; n++) {
      assertThat(pipeline.shop().buy(139, 2039, 1, "order-number-" + n).status()).isEqualTo(202);
    }
    eventually().until(() -> ordersOf(2039) == 9);
    page.openFresh(2039).signIn(139);
    browser.awaitShown("#order-list li:nth-child(8)");
    browser.press("#more-orders");
    browser.awaitHidden("#more-orders");

    browser.press("#order-list button[aria-label='Show " + oldest + "']");
    page.awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isEqualTo(oldest);
    page.pay().awaitStatus("PAID");
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

  @Tag("proof")
  @Test
  void showsWhatBecameOfAPaymentAtItsOwnOrderOnlyAndUntilItIsLate() {
    onStrongSale(2040, 100);
    String first = boughtBy(140, "first-of-two");
    String second = boughtBy(140, "second-of-two");
    page.openFresh(2040).signIn(140);
    show(first);
    browser.run(
        """
        const send = window.fetch;
        const declined = JSON.stringify({code: 'PAYMENT_DECLINED'});
        window.fetch = async (url, options) => {
          if (/v1\\/skus\\/2040$/.test(url)) throw new TypeError('cut'); // the clock stays as it is
          return /payment$/.test(url) ? new Response(declined, {status: 409}) : send(url, options);
        };
        """);
    page.pay();
    browser.awaitText("#order-text", "You may try again");
    show(second);
    browser.awaitText("#order-text", "Pay within the time shown");

    browser.hold("/payment");
    page.pay();
    browser.awaitText("#pay", "Paying");
    show(first);
    browser.awaitShown("#pay:not([aria-disabled])");
    assertThat(browser.text("#pay")).startsWith("Pay $");
    browser.release("/payment");
    page.pay();
    browser.awaitText("#order-text", "You may try again");
    browser.run(
        """
        const real = performance.now.bind(performance);
        performance.now = () => real() + 864_000_000;
        """);
    browser.awaitText("#order-text", "The time to pay is over");
  }

  @Tag("proof")
  @Test
  void showsTheStatusForWhichAPaymentIsRefused() {
    onStrongSale(2041, 100);
    page.openFresh(2041).signIn(141);
    browser.awaitShown("#buy:not([aria-disabled])");
    browser.run(
        """
        const send = window.fetch;
        window.fetch = async (url, options) => {
          if (options.method !== 'POST' && /v1\\/orders\\/[0-9]/.test(url)) throw new TypeError('cut');
          return send(url, options);
        };
        """);
    page.buy().awaitStatus("CONFIRMED");
    String order = page.orderId();
    eventually().until(() -> pipeline.shop().cancel(141, order).status() == 200);

    page.pay().awaitStatus("CANCELLED");
  }

  private static String boughtBy(long user, String key) {
    return pipeline.shop().buy(user, 2040, 1, key).text("orderId");
  }

  private static void show(String order) {
    browser.press("#order-list button[aria-label='Show " + order + "']");
    page.awaitStatus("CONFIRMED");
    assertThat(page.orderId()).isEqualTo(order);
  }

  @Tag("proof")
  @Test
  void cancelsOnlyWhenAskedTwice() {
    onSale(2007, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2007).signIn(107).buy().awaitStatus("CONFIRMED");
    browser.press("#cancel");
    browser.press("#sure button[value=no]");
    browser.awaitHidden("#sure");
    assertThat(browser.isShown("#order[data-status=CONFIRMED]")).isTrue();

    tabTo("cancel");
    keys(Keys.ENTER, Keys.ENTER);
    browser.awaitHidden("#sure");
    browser.run("for (const id of ['cancel', 'sure-yes']) document.getElementById(id).click();");
    assertThat(browser.isShown("#sure")).as("open after a double click").isTrue();
    assertThat(browser.isShown("#order[data-status=CONFIRMED]")).isTrue();

    browser.press("#sure-yes");
    page.awaitStatus("CANCELLED");
    browser.awaitText("#order-text", "on sale again");
  }

  @Tag("proof")
  @Test
  void isUsableByKeyboardAlone() {
    onSale(2009, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2009);
    browser.awaitShown("#buy:not([aria-disabled])");
    tabTo("account");
    keys(Keys.ENTER);
    browser.awaitShown("#user:focus");
    keys("109", Keys.ENTER);
    browser.awaitText("#account", "109");
    tabTo("buy");
    keys(Keys.ENTER);
    page.awaitStatus("CONFIRMED");
    browser.awaitShown("#pay:not([aria-disabled])");
    tabTo("pay");
    keys(Keys.SPACE);
    page.awaitStatus("PAID");
    assertThat(browser.find("#announce").getDomProperty("textContent")).contains("Paid");
  }

  @Test
  void isAccessibleInEveryState() {
    onSaleFrom(Instant.now().minusSeconds(60), Duration.ofHours(2), 2010);
    page.openFresh(2010);
    assertThat(browser.accessibilityFaults()).as("product").isEqualTo(List.of());
    browser.press("#account");
    browser.awaitShown("#sign-in");
    assertThat(browser.accessibilityFaults()).as("sign-in").isEqualTo(List.of());
    page.fillInSignIn(110).buy().awaitStatus("CONFIRMED");
    assertThat(browser.accessibilityFaults()).as("confirmed").isEqualTo(List.of());

    browser.open(browser.driver().getCurrentUrl().replaceAll("\\?.*", ""));
    browser.awaitShown("#product-list a[href='?sku=2010']");
    assertThat(browser.accessibilityFaults()).as("list").isEqualTo(List.of());
    browser.screenshot("shop-list");
  }

  @Tag("proof")
  @Test
  void fitsOnAPhoneLoadsLittleAndSpeaksChineseToThoseWhoseBrowserDoes() {
    onSale(2011, PurchasePolicy.LIMITED, 5, 100);
    try (Browser phone = Browser.phone("zh-CN")) {
      ShopPage shop = new ShopPage(phone, "http://127.0.0.1:" + link.port());
      shop.open(2011);
      assertThat(phone.loadedBytes()).isBetween(5_000L, FIRST_LOAD_BYTES);
      assertThat(phone.text("#buy")).isEqualTo("立即抢购");
      assertThat(phone.find("html").getDomAttribute("lang")).isEqualTo("zh-CN");
      shop.signIn(111).buy().awaitStatus("CONFIRMED");
      phone.awaitText("#order-title", "抢到了");
      phone.screenshot("shop-phone-chinese");
      assertThat(phone.run("return document.documentElement.scrollWidth <= window.innerWidth;"))
          .as("fits without scrolling sideways")
          .isEqualTo(true);
      assertThat(phone.run("return window.innerWidth;")).isEqualTo(390L);
      assertThat(phone.accessibilityFaults()).isEqualTo(List.of());

      phone.press("#language");
      phone.awaitText("#order-title", "It is yours");
      phone.reload();
      phone.awaitText("#buy", "Buy now");
      assertThat(phone.complaints()).isEmpty();
    }
  }

  private static void tabTo(String id) {
    for (int press = 0; press < 20; press++) {
      if (id.equals(browser.run("return document.activeElement.id;"))) {
        return;
      }
      keys(Keys.TAB);
    }
    throw new AssertionError("no way to #" + id + " by keyboard");
  }

  @Tag("proof")
  @Test
  void saysThatQueuedOrdersMayBeMissingFromTheList() {
    onSale(2016, PurchasePolicy.UNLIMITED, 0, 100);
    int buckets = Integer.parseInt(pipeline.redis().hget(RedisKeys.sku(2016), "bucketCount"));
    String bucket = RedisKeys.bucket(2016, RedisKeys.bucketOf(116, buckets));
    Map<String, String> many =
        IntStream.range(0, 3_000)
            .boxed()
            .collect(Collectors.toMap(i -> "compensated:" + i, i -> "1:1"));
    pipeline.redis().hset(bucket, many);
    try {
      page.openFresh(2016).signIn(116);

      browser.awaitText("#orders-incomplete", "may be missing");
    } finally {
      pipeline.redis().del(bucket);
    }
    browser.reload();
    browser.awaitText("#availability", "On sale");
    eventually().until(() -> !browser.isShown("#orders-incomplete"));
  }

  private static void keys(CharSequence... keys) {
    new Actions(browser.driver()).sendKeys(keys).perform();
  }

  private static void onSale(long skuId, PurchasePolicy policy, int limit, long stock) {
    pipeline.admin().sell(skuId, policy, limit, stock);
  }

  /** Of the sales that have opened, the page lists 50, by their ends. */
  private static void onSaleFrom(Instant opensAt, Duration length, long skuId) {
    Instant closesAt = opensAt.plus(length);
    pipeline
        .admin()
        .sell(skuId, PurchasePolicy.LIMITED, 5, 100, Decider.REDIS, 1, opensAt, closesAt);
  }

  private static void onStrongSale(long skuId, long stock) {
    pipeline.admin().sellStrong(skuId, PurchasePolicy.LIMITED, 5, stock);
    eventually().until(() -> pipeline.shop().page(skuId).json().path("onSale").asBoolean());
  }

  /** Deletes Redis's records of a shopper's purchases of a SKU, as after a loss of data. */
  private static void forget(long skuId, long user) {
    int buckets = Integer.parseInt(pipeline.redis().hget(RedisKeys.sku(skuId), "bucketCount"));
    pipeline.redis().del(RedisKeys.bucket(skuId, RedisKeys.bucketOf(user, buckets)));
  }

  private static long ordersOf(long skuId) throws SQLException {
    return pipeline.sales().settledOrders(skuId);
  }
}
