package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

/** Signing in, by the dialog or by a shop's link, and out; tokens that expire meanwhile. */
class ShopSignInIT extends ShopPageFixture {

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

  /** The end of the address of a call, and the button that sends it. */
  @Tag("proof")
  @ParameterizedTest
  @CsvSource({
    "2070, 2070/orders, #buy",
    "2071, /events, #buy",
    "2072, /payment, #pay",
    "2073, of the order, #cancel",
    "2074, v1/wallet, #language",
    "2075, v1/orders?limit=8, #language"
  })
  void keepsTheShopperWhoHasSignedInWhenACallOfTheSessionBeforeIsRefusedLast(
      long sku, String end, String button) {
    onStrongSale(sku, 100);
    page.openFresh(sku).signIn(sku);
    if (!button.equals("#buy")) {
      page.buy().awaitStatus("CONFIRMED");
    }
    String call = button.equals("#cancel") ? page.orderId() : end;
    browser.refuseLater(call);
    browser.press(button);
    if (button.equals("#cancel")) {
      browser.press("#sure-yes");
    }
    eventually().until(() -> browser.held(call) == 1);
    browser.press("#account");
    page.signIn(sku).awaitStatus("CONFIRMED");

    browser.releaseAnswer(call);

    assertThat(browser.text("#account")).contains(Long.toString(sku));
    assertThat(browser.isShown("#sign-in")).isFalse();
    assertThat(browser.isShown("#order[data-status=CONFIRMED]")).isTrue();
  }

  @Tag("proof")
  @Test
  void paysInTheNextSessionWhileAPaymentOfTheSessionBeforeHasNoAnswer() {
    onStrongSale(2076, 100);
    page.openFresh(2076).signIn(2076).buy().awaitStatus("CONFIRMED");
    browser.refuseLater("/payment");
    page.pay();
    eventually().until(() -> browser.held("/payment") == 1);
    browser.press("#account");

    page.signIn(2076).awaitStatus("CONFIRMED").pay().awaitStatus("PAID");
    browser.releaseAnswer("/payment");

    assertThat(browser.isShown("#order[data-status=PAID]")).isTrue();
  }

  @Tag("proof")
  @Test
  void signsInByTheLatestAttemptOnly() {
    onSale(2077, PurchasePolicy.LIMITED, 5, 100);
    page.openFresh(2077);
    browser.press("#account");
    browser.awaitShown("#user");
    browser.type("#user", "20771");
    browser.holdAnswer("demo/token");
    browser.press("#sign-in-form button[type=submit]");
    eventually().until(() -> browser.held("demo/token") == 1);
    browser.press("#sign-in-close");
    browser.awaitHidden("#sign-in");
    page.signIn(20_772);

    browser.releaseAnswer("demo/token");

    assertThat(browser.text("#account")).contains("20772");
  }
}
