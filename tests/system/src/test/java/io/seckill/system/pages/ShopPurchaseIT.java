package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.system.process.Service;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.interactions.Actions;

/** Buying: one order for each time a shopper means to buy, also when answers are lost. */
class ShopPurchaseIT extends ShopPageFixture {

  private static final Duration NEWS_ARE_SLOW = Duration.ofSeconds(10);

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

  /** Another answer has ended the first purchase; without its key the second is bought twice. */
  @Test
  void keepsTheKeyOfAPurchaseWhenAnEarlierOneIsAnsweredLast() {
    onSale(2078, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2078);

    Object kept =
        browser.run(
            """
            const module = document.querySelector('link[href$="/purchase.js"]').href;
            return import(module).then(async ({intend, intention, submit}) => {
              const kept = [];
              for (const [status, body] of [[202, '{"orderId": "5"}'], [409, '{"code": "SOLD_OUT"}']]) {
                let answer;
                window.fetch = () => new Promise((resolve) => (answer = resolve));
                const first = submit(intend(7, '8', 1), 'a token', () => true, () => {});
                const {key} = intend(7, '8', 1);
                answer(new Response(body, {status}));
                await first;
                kept.push(intention(7, '8')?.key === key);
              }
              return kept.join();
            });
            """);

    assertThat(kept).isEqualTo("true,true");
  }
}
