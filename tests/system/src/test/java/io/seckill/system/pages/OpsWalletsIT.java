package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Moves of money, and the check of all wallets. */
class OpsWalletsIT extends OpsPageFixture {

  @Tag("proof")
  @Test
  void adjustsAWalletAndFreezesIt() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Adjust…");
    page.fill("id", "3017").fill("amount", "--5.00").refuse("this must be an amount");
    page.fill("amount", "5.00").fill("reason", "a mistake").confirm("adjust: balance 5.00");
    page.askAboutWallets("Adjust…").fill("id", "3017");
    page.fill("amount", "-5.01").refuse("INSUFFICIENT_FUNDS");
    page.fill("amount", "-0,50").confirm("adjust: balance 4.50");

    page.askAboutWallets("Freeze…").fill("id", "3017");
    page.confirm("freeze wallet: user 3017 is FROZEN");
    assertThat(walletState()).isEqualTo("FROZEN");
    page.askAboutWallets("Release…").fill("id", "3017");
    page.confirm("release wallet: user 3017 is ACTIVE");
    assertThat(walletState()).isEqualTo("ACTIVE");
  }

  @Tag("proof")
  @Test
  void movesMoneyOnceWhenAnUnansweredRechargeIsRepeatedInAnotherDialog() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Recharge…");
    page.fill("id", "3050").fill("amount", "5.00").fill("reason", "paid in");
    browser.loseAnswers("/recharges");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    browser.awaitText("#audit li.bad", "recharge: no answer: what was done is not known");
    assertThat(browser.text("#audit li.bad")).contains("the same action again counts once");
    browser.heal();

    page.askAboutWallets("Recharge…").fill("id", "3050").fill("amount", "5.00");
    page.confirm("recharge: balance 5.00; it counts once, together with the earlier request");
    assertThat(recharges()).isOne();

    page.askAboutWallets("Recharge…").fill("id", "3050").fill("amount", "5.00");
    page.confirm("recharge: balance 10.00");
    assertThat(recharges()).isEqualTo(2);
  }

  @Tag("proof")
  @Test
  void movesMoneyOnceWhenAnUnansweredRechargeIsRepeatedInAnotherTab() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Recharge…");
    page.fill("id", "3054").fill("amount", "5.00").fill("reason", "paid in");
    browser.loseAnswers("/recharges");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitText("#audit li.bad", "recharge: no answer: what was done is not known");

    browser.run("sessionStorage.clear();"); // each tab has its own
    page.open(pipeline.tokens().operator()).askAboutWallets("Recharge…");
    page.fill("id", "3054").fill("amount", "5.00");
    page.confirm("recharge: balance 5.00; it counts once, together with the earlier request");
    page.askAboutWallets("Recharge…").fill("id", "3054").fill("amount", "5.00");
    page.confirm("recharge: balance 10.00");
  }

  /**
   * A move of the same amount two days later is meant. A former page has left the key of the first.
   */
  @Test
  void remembersAMoveOfUnknownOutcomeForADay() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object same =
        browser.run(
            """
            const keys = [];
            window.fetch = async (url, {headers}) => {
              keys.push(headers['Idempotency-Key']);
              return new Response('{}', {status: 503});
            };
            const timer = window.setTimeout;
            window.setTimeout = (done) => timer(done);
            const now = Date.now;
            const context = {token: () => 'a token'};
            sessionStorage.setItem('seckill.move.wallets/7/recharges.{"amountCents":500}', 'a key');
            return import(document.querySelector('link[href$="/actions.js"]').href).then(async ({movesOnce}) => {
              const sent = [];
              await movesOnce(context)('wallets/8/recharges', {amountCents: 500}, null);
              for (const hours of [0, 23, 46, 71]) {
                Date.now = () => now() + hours * 3_600_000;
                keys.length = 0;
                await movesOnce(context)('wallets/7/recharges', {amountCents: 500}, null);
                sent.push(keys[0]);
              }
              const kept = Object.keys(localStorage).filter((one) => one.startsWith('seckill.move.wallets/8/'));
              return [sent[0], ...sent.map((key) => sent.indexOf(key)), kept.length].join();
            });
            """);

    assertThat(same).isEqualTo("a key,0,0,0,3,0");
  }

  private static long recharges() {
    return pipeline.mysql().number("SELECT COUNT(*) FROM wallet_entry WHERE user_id = 3050");
  }

  /** A refusal moves nothing: the same move after it is a new one. */
  @Tag("proof")
  @Test
  void takesNoMoveAfterARefusalForARepeat() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Adjust…");
    page.fill("id", "3052").fill("amount", "-5.00").refuse("INSUFFICIENT_FUNDS");
    assertThat(browser.text("#confirm-problem")).doesNotContain("counts once");
    page.fill("amount", "5.00").confirm("adjust: balance 5.00");
    page.askAboutWallets("Adjust…").fill("id", "3052").fill("amount", "-5.00");
    page.confirm("adjust: balance 0.00");

    assertThat(browser.text("#audit li")).doesNotContain("counts once");
  }

  @Tag("proof")
  @Test
  void takesThePageOfAProxyForNoAnswer() {
    page.open(pipeline.tokens().operator()).askAboutWallets("Recharge…");
    browser.run(
        """
        const send = window.fetch;
        let sent = 0;
        window.fetch = async (url, options) =>
          String(url).endsWith('/recharges') && sent++ === 0 ? new Response('<p>Sign in') : send(url, options);
        """);

    page.fill("id", "3053").fill("amount", "5.00").confirm("recharge: balance 5.00");
  }

  private static String walletState() {
    String sql = "SELECT state FROM wallet WHERE user_id = 3017";
    return pipeline.mysql().rows(sql, row -> row.getString(1)).get(0);
  }

  /** A cent that has no entry. */
  @Tag("proof")
  @Test
  void marksACheckOfTheWalletsThatHasFoundSomething() {
    pipeline.admin().recharge(3041, 1_000, "found-by-the-page");
    String balance =
        "UPDATE wallet SET balance_cents = balance_cents %s 1, state = 'ACTIVE'"
            + " WHERE user_id = 3041";
    page.open(pipeline.tokens().operator());
    pipeline.mysql().execute(balance.formatted("+"));
    try {
      page.askAboutWallets("Check all wallets…").confirm("check wallets: ");

      browser.awaitText("#audit li.bad", "user 3041: balance 1001");
    } finally {
      pipeline.mysql().execute(balance.formatted("-"));
    }
    page.askAboutWallets("Check all wallets…").confirm("no difference");
  }

  @Tag("proof")
  @Test
  void keepsWhatACheckHasFoundWhenAnOlderReadIsAnsweredAfterIt() {
    page.open(pipeline.tokens().operator());
    browser.holdAnswer("audits?limit=20");
    page.askAboutWallets("Check all wallets…").confirm("no difference");
    eventually().until(() -> browser.held("audits?limit=20") == 1);
    pipeline.admin().recharge(3032, 1_000, "after-the-first-check");
    long entries = pipeline.mysql().number("SELECT COUNT(*) FROM wallet_entry");
    page.askAboutWallets("Check all wallets…").confirm(entries + " entries, no difference");
    browser.awaitText("#wallet-check", entries + " entries");

    browser.releaseAnswer("audits?limit=20");

    assertThat(browser.text("#wallet-check")).contains(" " + entries + " entries");
  }
}
