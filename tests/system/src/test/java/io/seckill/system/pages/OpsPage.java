package io.seckill.system.pages;

/** The operations page, as an operator uses it. */
final class OpsPage {

  private final Browser browser;
  private final String url;

  OpsPage(Browser browser, String url) {
    this.browser = browser;
    this.url = url + "/ops";
  }

  /** Opens the page and signs in with a token. */
  OpsPage open(String token) {
    browser.open(url);
    browser.awaitShown("#token");
    browser.type("#token", token);
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitShown("#tiles dd");
    return this;
  }

  /** Selects the SKU whose ledger and buttons are shown. */
  OpsPage choose(long skuId) {
    browser.press("#sales-rows tr[data-key='" + skuId + "'] button");
    browser.awaitText("#sale-title", "SKU " + skuId);
    return this;
  }

  /** Whether the chosen SKU's state allows an action, by the page's view. */
  boolean offers(String label) {
    return browser.isEnabled("#actions button", label);
  }

  /** Presses a button of the chosen SKU; the dialog is then open. */
  OpsPage ask(String label) {
    browser.pressLabelled("#actions button", label);
    browser.awaitShown("#confirm-yes");
    return this;
  }

  /** Presses a button that is about wallets; the dialog is then open. */
  OpsPage askAboutWallets(String label) {
    browser.pressLabelled("#wallet-actions button", label);
    browser.awaitShown("#confirm-yes");
    return this;
  }

  OpsPage fill(String name, String value) {
    browser.type("#confirm-fields [name=" + name + "]", value);
    return this;
  }

  OpsPage pick(String name, String option) {
    browser.pick("#confirm-fields [name=" + name + "]", option);
    return this;
  }

  /** Confirms, and waits for the audit line of the action. */
  OpsPage confirm(String auditLine) {
    browser.press("#confirm-yes");
    browser.awaitText("#audit li", auditLine);
    browser.awaitHidden("#confirm");
    return this;
  }

  /** Confirms what the page does not send, and waits for its reason. */
  OpsPage refuse(String problem) {
    browser.press("#confirm-yes");
    browser.awaitText("#confirm-problem", problem);
    return this;
  }

  OpsPage act(String label, String auditLine) {
    return ask(label).confirm(auditLine);
  }

  void awaitService(String name, String state) {
    browser.awaitShown("#services [data-service=" + name + "][data-state=" + state + "]");
  }

  void awaitSheet(String table, String row, String value) {
    browser.awaitRow("#" + table + " tr", row, value);
  }
}
