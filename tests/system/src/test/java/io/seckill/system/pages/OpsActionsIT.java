package io.seckill.system.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Buttons and their dialogs: the calls that they send, and refused, lost and late answers. */
class OpsActionsIT extends OpsPageFixture {

  /** The first request is carried out, its answer is lost, and the second finds the token ended. */
  @Tag("proof")
  @Test
  void changesStockOnceWhenAnUnansweredChangeIsRepeatedAfterASignIn() {
    onSale(3051);
    page.open(pipeline.tokens().operator()).choose(3051).ask("Change stock…");
    browser.run(
        """
        const send = window.fetch;
        let sent = 0;
        window.fetch = async (url, options) => {
          if (!String(url).endsWith('/3051/stock')) return send(url, options);
          if (sent++ > 0) return new Response('{"code": "UNAUTHORIZED"}', {status: 401});
          await send(url, options);
          throw new TypeError('lost');
        };
        """);
    page.fill("delta", "7").fill("reason", "found");
    browser.press("#confirm-yes");
    browser.awaitShown("#token");

    page.open(pipeline.tokens().operator()).choose(3051).ask("Change stock…");
    page.fill("delta", "7").fill("reason", "found again").confirm("stock SKU 3051 by 7: DONE, 107");

    assertThat(browser.text("#audit li")).contains("it counts once");
    assertThat(stockChanges()).isOne();
  }

  private static long stockChanges() {
    return pipeline.mysql().number("SELECT COUNT(*) FROM stock_change WHERE sku_id = 3051");
  }

  /** A repeat of a preheat would begin it anew. */
  @Tag("proof")
  @Test
  void sendsALongCallOnce() throws SQLException {
    put(3012);
    page.open(pipeline.tokens().operator()).choose(3012);

    askInVain("Preheat", 3012);

    assertThat(requests("/3012/preheat")).isEqualTo(1);
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.act("Preheat", "preheat SKU 3012: PREHEATED, epoch 1");
  }

  /** Repeated by itself it could undo a pause that came meanwhile. */
  @Tag("proof")
  @Test
  void sendsAResumeOnce() throws SQLException {
    onSale(3030);
    page.open(pipeline.tokens().operator()).choose(3030).act("Pause", "pause SKU 3030: PAUSED");

    askInVain("Resume", 3030);

    assertThat(requests("/3030/resume")).isEqualTo(1);
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
  }

  @Test
  void everyButtonOfTheFallbackSendsItsCall() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object calls =
        browser.run(
            """
            const calls = [];
            const timer = window.setTimeout;
            window.setTimeout = (done) => timer(done); // the dialog confirms at once
            window.fetch = async (url, {method}) => {
              calls.push(`${method} ${url}`);
              return new Response('{}');
            };
            const context = {token: () => 'a token', changed: () => {}};
            const dialog = document.querySelector('#confirm');
            const sales = [{skuId: 7, fallback: 'ACTIVE', reservedUnits: 2}];
            const pressAll = async () => {
              for (const button of document.querySelectorAll('#fallback-switch button')) {
                button.click();
                while (dialog.open) {
                  document.querySelector('#confirm-form').requestSubmit();
                  await new Promise((resolve) => setTimeout(resolve));
                }
              }
            };
            const module = document.querySelector('link[href$="/rates.js"]').href.replace('rates.js', 'fallback.js');
            return import(module).then(async ({renderFallback}) => {
              for (const [state, salesOfRedis] of [['REDIS', 1], ['ENTERING', 1], ['MYSQL', 0], ['MYSQL', 1], ['RETURNING', 0]]) {
                calls.push(state);
                renderFallback({mode: 'manual', state, changedAt: '', sales, salesOfRedis, salesInFallback: 1, gateways: [], failurePercent: 50, failuresPerSecond: 3}, context);
                await pressAll();
              }
              return calls.join('\\n').replaceAll('admin/v1/', '') + '\\n';
            });
            """);

    String always = "POST skus/7/release-reserve\nPUT fallback/settings\n";
    assertThat(calls)
        .isEqualTo(
            "REDIS\nPOST fallback/enter\n"
                + always
                + "ENTERING\n"
                + always
                + "MYSQL\nPOST fallback/leave\n"
                + always
                + "MYSQL\nPOST fallback/enter\nPOST fallback/leave\n"
                + always
                + "RETURNING\nPOST fallback/enter\n"
                + always);
  }

  @Test
  void confirmsNothingByADoubleClick() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object runs =
        browser.run(
            """
            const context = {token: () => 'a token', changed: () => {}};
            const yes = document.querySelector('#confirm-yes');
            let runs = 0;
            const run = async () => {
              runs++;
              return {status: 200, json: {}};
            };
            return import(document.querySelector('link[href$="/actions.js"]').href).then(async ({ask}) => {
              ask(context, {title: 'Do it?', text: '', yes: 'Do it', run, done: () => 'done', what: 'do it'});
              yes.click();
              const early = runs;
              while (yes.ariaDisabled) await new Promise((resolve) => setTimeout(resolve));
              yes.click();
              return `${early},${runs}`;
            });
            """);

    assertThat(runs).isEqualTo("0,1");
  }

  /** A click is lost when a snapshot replaces its button meanwhile. */
  @Test
  void keepsTheButtonsOfTheFallbackWhileItsStateAndAReserveChange() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object seen =
        browser.run(
            """
            const context = {token: () => 'a token', changed: () => {}};
            const module = document.querySelector('link[href$="/rates.js"]').href.replace('rates.js', 'fallback.js');
            return import(module).then(({renderFallback}) => {
              const render = (state, failurePercent, ...sales) =>
                renderFallback({mode: 'manual', state, changedAt: '', sales, salesOfRedis: 0, salesInFallback: 1, gateways: [], failurePercent, failuresPerSecond: 3}, context);
              const sale = (reservedUnits) => ({skuId: 7, fallback: 'ACTIVE', reservedUnits});
              render('ENTERING', 50, sale(2));
              const [, leave, release, thresholds] = document.querySelectorAll('#fallback-switch button');
              const seen = [leave.ariaDisabled];
              render('MYSQL', 60, sale(1));
              release.click();
              seen.push(leave.ariaDisabled, document.querySelector('#confirm-title').textContent);
              document.querySelector('#confirm').close();
              render('MYSQL', 70, sale(0));
              thresholds.click();
              seen.push(document.querySelector('#confirm-fields input').value);
              document.querySelector('#confirm').close();
              return [...seen, leave.isConnected, release.isConnected].join();
            });
            """);

    assertThat(seen).isEqualTo("true,,Sell the 1 reserved units of SKU 7?,70,true,false");
  }

  /** Left to the browser it would be at the top of the page. */
  @Test
  void putsTheFocusOfARowThatGoesOnTheNextOneOrTheTitle() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object seen =
        browser.run(
            """
            document.querySelector('#board').hidden = false;
            let letters = [[1, 1], [2, 1], [3, 1]];
            let next = null;
            window.fetch = async () => {
              const deadLetters = letters.map(([id, attempts]) =>
                ({id, reason: 'UNREADABLE', detail: '', attempts, lastFailedAt: '2026-11-29T10:20:30Z'}));
              return new Response(JSON.stringify({deadLetters, next}));
            };
            const find = (selector) => document.querySelector(selector);
            const seen = [];
            const see = () => {
              const {activeElement: at} = document;
              seen.push([at.closest('tr')?.dataset.letter, at.textContent].filter(Boolean).join(' '));
            };
            return import(find('link[href$="/dead-letters.js"]').href).then(async ({readDeadLetters}) => {
              const become = async (...rest) => {
                letters = rest;
                await readDeadLetters();
                see();
              };
              await readDeadLetters();
              find('tr[data-letter="2"] button:last-child').focus();
              await become([1, 1], [2, 2], [3, 1]); // replayed, and back
              await become([1, 1], [3, 1]);
              await become([1, 1]);
              await become();
              const page = Array.from({length: 20}, (_, i) => [i + 1, 1]);
              next = 20;
              await become(...page);
              find('#more-dead-letters').focus();
              next = null;
              await become(...page); // which is the last one
              find('tr[data-letter="20"] button').click();
              await become(); // while its dialog is open
              const closed = new Promise((resolve) => find('#confirm').addEventListener('close', resolve));
              find('#confirm').close();
              await closed;
              see();
              return seen.join('\\n') + '\\n';
            });
            """);

    assertThat(seen)
        .isEqualTo(
            """
            2 Discard…
            3 Discard…
            1 Discard…
            Dead letters
            Dead letters
            20 Discard…
            Leave it
            Dead letters
            """);
  }

  /** What changes by itself moves no page under a mouse. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "updateChildren(list, [...list.children].slice(0, 2))",
        "show(list.lastChild, false)"
      })
  void scrollsToTheNextFocusOfAKeyboardOnly(String removal) {
    addLongList();
    browser.run("document.querySelector('#last').focus();");
    assertThat(nextFocus(removal)).isEqualTo("first, in sight");

    addLongList();
    browser.press("#last");
    assertThat(nextFocus(removal)).isEqualTo("first, out of sight");
  }

  private static void addLongList() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");
    browser.run(
        """
        return import(document.querySelector('link[href$="/dom.js"]').href).then(({make}) => {
          const button = (id) => make('button', {id, type: 'button', textContent: id});
          const space = make('p');
          space.style.height = '9000px';
          document.querySelector('#main').append(make('div', {id: 'long'}, button('first'), space, button('last')));
        });
        """);
  }

  private static Object nextFocus(String removal) {
    return browser.run(
        """
        const list = document.querySelector('#long');
        return import(document.querySelector('link[href$="/dom.js"]').href).then(({show, updateChildren}) => {
          %s;
          const {activeElement: at} = document;
          const {top} = at.getBoundingClientRect();
          return `${at.textContent}, ${top >= 0 && top < window.innerHeight ? 'in' : 'out of'} sight`;
        });
        """
            .formatted(removal));
  }

  /** Until the page gives up: something else holds the row of the SKU. */
  private static void askInVain(String action, long sku) throws SQLException {
    try (var mysql = pipeline.mysql().connect();
        var lock = mysql.createStatement()) {
      lock.execute("BEGIN");
      lock.execute("SELECT * FROM products WHERE sku_id = " + sku + " FOR UPDATE");
      page.ask(action);
      browser.press("#confirm-yes");
      browser.awaitText("#audit li.bad", action.toLowerCase(Locale.ROOT) + " SKU " + sku);
    }
  }

  private static long requests(String end) {
    return (long)
        browser.run(
            "return performance.getEntriesByType('resource')"
                + ".filter(call => call.name.endsWith(arguments[0])).length;",
            end);
  }

  @Tag("proof")
  @Test
  void saysWhatARefusalMeansAndDoesNothingUnconfirmed() {
    onSale(3002);
    page.open(pipeline.tokens().operator()).choose(3002).ask("Change stock…");
    page.fill("delta", "50");
    browser.press("#confirm-yes");
    browser.awaitText("#confirm-problem", "INVALID_REQUEST: reason must be");
    browser.awaitText("#audit li.bad", "stock SKU 3002: INVALID_REQUEST");

    page.fill("delta", "-1000").fill("reason", "too many");
    page.confirm("stock SKU 3002 by -1000: REFUSED");
    page.ask("Close");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    assertThat(pipeline.shop().buy(9, 3002, 1, "not-closed-at-all").status()).isEqualTo(202);
  }

  @Tag("proof")
  @Test
  void aLateAnswerLeavesTheNextDialogAlone() {
    onSale(3014);
    page.open(pipeline.tokens().operator()).choose(3014);
    browser.hold("/3014/stock");
    page.ask("Change stock…").fill("delta", "1");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.ask("Close");
    browser.release("/3014/stock");
    browser.awaitText("#audit li.bad", "stock SKU 3014: INVALID_REQUEST");
    assertThat(browser.text("#confirm-problem")).isEmpty();
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");

    browser.hold("/3014/stock");
    browser.hold("/3014/pause");
    page.ask("Change stock…").fill("delta", "1").fill("reason", "found");
    browser.press("#confirm-yes");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    page.ask("Pause");
    browser.press("#confirm-yes");
    browser.release("/3014/stock");
    browser.awaitText("#audit li", "stock SKU 3014 by 1: DONE");
    assertThat(browser.text("#confirm-title")).isEqualTo("Pause SKU 3014?");
    assertThat(browser.isEnabled("#confirm-yes")).as("a second click sends it again").isFalse();

    browser.release("/3014/pause");
    browser.awaitText("#audit li", "pause SKU 3014: PAUSED");
    browser.awaitHidden("#confirm");
  }
}
