package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;

import java.util.stream.Stream;

/** The shop page, as a shopper uses it. */
final class ShopPage {

  private final Browser browser;
  private final String url;

  ShopPage(Browser browser, String url) {
    this.browser = browser;
    this.url = url;
  }

  /** Opens the product's page with empty browser storage. */
  ShopPage openFresh(long skuId) {
    browser.open(url + "/?sku=" + skuId).forgetEverything();
    browser.complaints();
    return open(skuId);
  }

  ShopPage open(long skuId) {
    browser.open(url + "/?sku=" + skuId);
    browser.awaitShown("#product");
    return this;
  }

  /** Opens the product's page by a shop's link with a token, until the page has used that. */
  ShopPage openLink(long skuId, String token) {
    browser.open(url + "/?sku=" + skuId + "#token=" + token);
    eventually().ignoreExceptions().until(() -> browser.run("return location.hash;"), ""::equals);
    browser.awaitShown("#product");
    return this;
  }

  ShopPage signIn(long user) {
    browser.press("#account");
    return fillInSignIn(user);
  }

  /** Signs in with the dialog that is open. */
  ShopPage fillInSignIn(long user) {
    browser.awaitShown("#user");
    browser.type("#user", Long.toString(user));
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#account", Long.toString(user));
    return this;
  }

  ShopPage buy() {
    browser.press("#buy");
    return this;
  }

  ShopPage pay() {
    browser.press("#pay");
    return this;
  }

  ShopPage awaitStatus(String status) {
    browser.awaitShown("#order[data-status=" + status + "]");
    return this;
  }

  /** Returns the id of the order that is shown; waits while the page replaces it. */
  String orderId() {
    return eventually().until(this::shownOrderId, id -> !id.isEmpty());
  }

  private String shownOrderId() {
    return Stream.of(browser.text("#order-facts").split("\\s+", -1))
        .filter(word -> word.matches("[0-9]{15,}"))
        .findFirst()
        .orElse("");
  }
}
