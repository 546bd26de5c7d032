package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The product with its countdown, and the list of products: read again, by the server's clock. */
class ShopProductIT extends ShopPageFixture {

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
}
