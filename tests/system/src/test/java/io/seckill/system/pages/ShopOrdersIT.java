package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.process.Service;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** The order that is shown, until it is paid or cancelled, and the list of a shopper's orders. */
class ShopOrdersIT extends ShopPageFixture {

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
    browser.run("window.waits = [];");
    eventually().until(() -> (long) browser.run("return window.waits.length;") >= 8);

    assertThat(browser.run("return window.waits.slice(6).every((ms) => ms >= 20000);"))
        .as("unpaid, it may stay as it is for half an hour")
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
}
