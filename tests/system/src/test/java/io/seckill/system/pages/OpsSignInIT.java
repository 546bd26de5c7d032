package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Signing in and out, refused tokens, and the limit of viewers. */
class OpsSignInIT extends OpsPageFixture {

  private static final int MOST_VIEWERS = 50;

  @Tag("proof")
  @Test
  void saysWhyItShowsNothingWhenTooManyWatch() throws Exception {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.awaitShown("#token");
    List<InputStream> others = new ArrayList<>();
    try {
      eventually().until(() -> watch(others), watching -> watching == MOST_VIEWERS);
      browser.type("#token", pipeline.tokens().operator());
      browser.press("#sign-in-form button[type=submit]");
      browser.awaitText("#away", "BUSY: Too many operators are watching");
      assertThat(browser.isShown("#tiles dd")).isFalse();
    } finally {
      for (InputStream other : others) {
        other.close();
      }
    }
    browser.awaitShown("#tiles dd");
    browser.awaitHidden("#away");
  }

  @Tag("proof")
  @Test
  void letsNobodyInWithoutAnOperatorsTokenButHasOneForDemos() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.awaitShown("#token");
    browser.type("#token", pipeline.tokens().shopper(7));
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#sign-in-problem", "scope");
    assertThat(browser.isShown("#board")).isFalse();
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.paste("#token", pipeline.tokens().operator() + "\u200b"); // which no browser sends
    browser.press("#sign-in-form button[type=submit]");
    browser.awaitText("#sign-in-problem", "This is no token.");

    browser.press("#demo");
    browser.awaitShown("#tiles dd");
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
    browser.press("#sign-out");
    browser.awaitShown("#token");
  }

  /** Its stream goes on with the token with which it was opened. */
  @Test
  void asksForAnotherTokenWhenAReadIsRefused() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object asked =
        browser.run(
            """
            window.fetch = async () => new Response('{"code": "UNAUTHORIZED"}', {status: 401});
            const problem = document.querySelector('#sign-in-problem');
            const context = {token: () => 'a token', signInAgain: () => (problem.textContent = 'Sign in again.')};
            const sku = {skuId: 7, name: 'A thing', state: 'OPEN', decides: 'MYSQL', opensAt: '', closesAt: ''};
            const services = {redis: 'UP', mysql: 'UP', broker: 'UP', consumer: 'UP', relay: 'UP'};
            const snapshot = {services, durableIn: 'REDIS', lanes: null, stops: null, links: {}, skus: [sku], ledgers: [],
              deadLetters: 0, clickToRow: null, fallback: null, pendingWork: null};
            const load = (module) => import(document.querySelector(`link[href$="/${module}.js"]`).href);
            return Promise.all(['dead-letters', 'unexplained-charges', 'audits', 'board'].map(load)).then(async ([letters, charges, audits, board]) => {
              const chosen = async () => {
                board.renderBoard(snapshot, null, context);
                for (let turn = 0; turn < 100 && problem.textContent === ''; turn++) await new Promise((resolve) => setTimeout(resolve));
              };
              const asked = [];
              for (const read of [letters.readDeadLetters, charges.readUnexplainedCharges, audits.readAudits, () => board.readMoreSales(context, 1), chosen]) {
                problem.textContent = '';
                await read();
                asked.push(problem.textContent.includes('Sign in again.'));
              }
              return asked.join();
            });
            """);

    assertThat(asked).isEqualTo("true,true,true,true,true");
  }

  @Tag("proof")
  @Test
  void keepsTheOperatorWhoHasSignedInWhenAReadOfTheSessionBeforeIsRefusedLast() {
    String read = "dead-letters?state=OPEN&limit=20";
    page.open(pipeline.tokens().operator());
    browser.refuseLater(read);
    passAMinute();
    eventually().until(() -> browser.held(read) == 1);
    browser.press("#sign-out");
    browser.press("#demo");
    browser.awaitShown("#tiles dd");

    browser.releaseAnswer(read);

    assertThat(browser.isShown("#board")).isTrue();
    assertThat(browser.isShown("#token")).isFalse();
  }

  @Tag("proof")
  @Test
  void signsInNobodyByAnAttemptThatIsAnsweredAfterSigningOut() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.awaitShown("#token");
    browser.holdAnswer("admin/v1/demo/token");
    browser.press("#demo");
    eventually().until(() -> browser.held("admin/v1/demo/token") == 1);
    browser.press("#demo");
    browser.awaitShown("#tiles dd");
    browser.press("#sign-out");
    browser.hold("admin/v1/skus"); // to which a token is tried

    browser.releaseAnswer("admin/v1/demo/token");

    assertThat(browser.held("admin/v1/skus")).isZero();
  }

  @Test
  void showsNothingToWhoHasSignedOutWhenBackBringsThePageAsItWasLeft() {
    page.open(pipeline.tokens().operator());

    browser.run("sessionStorage.removeItem('seckill.operator');"); // signed out on a later page
    browser.comeBack();

    browser.awaitShown("#token");
    assertThat(browser.isShown("#board")).isFalse();
  }

  /** Opens one more stream, if the limit allows it; returns the number of open streams. */
  private static int watch(List<InputStream> watching) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + pipeline.adminPort() + "/admin/v1/events"))
            .header("Authorization", "Bearer " + pipeline.tokens().operator())
            .build();
    HttpResponse<InputStream> answer =
        HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    if (answer.statusCode() == 200) {
      watching.add(answer.body());
    }
    return watching.size();
  }
}
