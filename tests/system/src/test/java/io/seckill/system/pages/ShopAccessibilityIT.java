package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** Keyboards, screen readers and phones; browsers that cannot start the page. */
class ShopAccessibilityIT extends ShopPageFixture {

  private static final String RELOADS = "return Number(sessionStorage.getItem('seckill.reloads'));";

  private static final long FIRST_LOAD_BYTES = 100_000;

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
    browser.awaitShown("#order-title:focus");
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
}
