package io.seckill.system.pages;

import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

/** The shop page, as a shopper uses it. */
final class ShopPage {

  private final Browser browser;
  private final String url;

  ShopPage(Browser browser, String url) {
    this.browser = browser;
    this.url = url;
  }

  /** The product's page, for a tab and a shopper that know nothing yet. */
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

  ShopPage signIn(long user) {
    browser.press("#account");
    return fillInSignIn(user);
  }

  /** In the dialog that is open. */
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

  String orderId() {
    WebElement facts = browser.find("#order-facts");
    return facts.findElements(By.tagName("dd")).stream()
        .map(WebElement::getText)
        .filter(text -> text.matches("[0-9]{15,}"))
        .findFirst()
        .orElse("");
  }
}
