package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import io.seckill.system.process.Service;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The live board: services, sales, their rates and ledgers. */
class OpsBoardIT extends OpsPageFixture {

  /** The page shows a SKU once, without its shards. */
  private static final String SKUS = " WHERE sku_id < " + Shards.FIRST_ID;

  /** The read takes seconds while order-consumer hangs. */
  @Test
  void showsTheChosenSaleBeforeItsLedgerIsRead() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const asked = [];
            window.fetch = (url) => new Promise((resolve) =>
              asked.push({url, answer: (json, status = 200) => resolve(new Response(JSON.stringify(json), {status}))}));
            const sku = (skuId) => ({skuId, name: 'A thing', state: 'OPEN', decides: 'MYSQL', opensAt: '', closesAt: ''});
            const services = {redis: 'UP', mysql: 'UP', broker: 'UP', consumer: 'UP', relay: 'UP'};
            let snapshot = {services, durableIn: 'REDIS', lanes: null, stops: null, links: {}, skus: [sku(7), sku(8)], ledgers: [],
              deadLetters: 0, clickToRow: null, fallback: null, pendingWork: null};
            const text = (selector) => document.querySelector(selector).textContent;
            const choose = (skuId) => document.querySelector(`#sales-rows tr[data-key='${skuId}'] button`).click();
            return import(document.querySelector('link[href$="/board.js"]').href).then(async ({renderBoard}) => {
              const context = {token: () => 'a token', again: () => renderBoard(snapshot, null, context)};
              const shown = [];
              const note = () => shown.push(`${text('#sale-title')}: ${text('#ledger-verdict')}`);
              const noteOnce = async (part) => {
                while (!text('#ledger-verdict').includes(part)) await new Promise((resolve) => setTimeout(resolve));
                note();
              };
              context.again();
              note();
              choose(8);
              note();
              asked[1].answer({skuId: 8, decides: 'MYSQL', balanced: true, units: {}, orders: {}});
              await noteOnce('balances');
              context.again();
              note();
              asked[2].answer({code: 'CONSUMER_UNAVAILABLE'}, 503);
              await noteOnce('no ledger');
              snapshot = {...snapshot, skus: null, services: {...services, mysql: 'DOWN', consumer: 'DOWN'}};
              choose(7);
              note();
              return [...shown, ...asked.map(({url}) => url)].join('\\n');
            });
            """);

    String none = " · A thing: The ledger: no ledger at the moment";
    String balances =
        "SKU 8 · A thing: The ledger balances: every unit and every order is accounted for";
    assertThat(shown)
        .isEqualTo(
            String.join(
                "\n",
                "SKU 7" + none,
                "SKU 8" + none,
                balances,
                balances,
                "SKU 8" + none,
                "SKU 7" + none,
                "admin/v1/skus/7/ledger",
                "admin/v1/skus/8/ledger",
                "admin/v1/skus/8/ledger"));
  }

  @Test
  void showsNoSaleOfAFallbackThatIsNotKnownAndNoStopAfterSigningOut() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const context = {token: () => 'a token', changed: () => {}};
            const [state, sales, stops, signOut] =
              ['fallback-state', 'fallback-sales', 'stops', 'sign-out'].map((id) => document.getElementById(id));
            const module = document.querySelector('link[href$="/rates.js"]').href.replace('rates.js', 'fallback.js');
            return import(module).then(({renderFallback}) => {
              const render = (fallback) => {
                renderFallback(fallback, context);
                return `${state.className} ${sales.children.length}`;
              };
              const sale = {skuId: 7, fallback: 'ACTIVE', reservedUnits: 2};
              const known = {mode: 'manual', state: 'MYSQL', changedAt: '', sales: [sale], salesOfRedis: 0, salesInFallback: 1, gateways: []};
              const shown = [render(known), render(null)];
              stops.hidden = false;
              signOut.click();
              return [...shown, stops.hidden].join();
            });
            """);

    assertThat(shown).isEqualTo("verdict warn 1, 0,true");
  }

  /** A row that is moved loses the focus, and a click under way. */
  @Test
  void movesNoMoreRowsThanItMust() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object moved =
        browser.run(
            """
            const changes = ['ABCD BCDA', 'ABCD BCAD', 'ABCD DABC', 'ABCDE CDEAB', 'ABCDE BDACE', 'ABC CXA', 'ABC ABC', 'A XY'];
            return import(document.querySelector('link[href$="/dom.js"]').href).then(({make, updateChildren}) => {
              const moved = changes.map((change) => {
                const [from, to] = change.split(' ');
                const rows = Object.fromEntries([...from, ...to].map((name) => [name, make('li', {textContent: name})]));
                const list = make('ul', {}, ...[...from].map((name) => rows[name]));
                const observer = new MutationObserver(() => {});
                observer.observe(list, {childList: true});
                updateChildren(list, [...to].map((name) => rows[name]));
                const added = observer.takeRecords().flatMap((one) => [...one.addedNodes]);
                return `${list.textContent} ${added.map((row) => row.textContent).join('')}`;
              });
              return moved.join(', ');
            });
            """);

    assertThat(moved).isEqualTo("BCDA A, BCAD A, DABC D, CDEAB AB, BDACE AC, CXA XA, ABC , XY XY");
  }

  @Test
  void measuresRatesAnewWhenAnotherGatewaysClockIsBehindOrAhead() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object measured =
        browser.run(
            """
            const orders = {outboxAndPrivateQueues: 0, confirmed: 0, paid: 0, cancelled: 0, expired: 0, rejected: 0};
            const at = (second, admitted) =>
              ({at: `2026-11-28T10:00:${second}Z`, ledgers: [{skuId: 1, decides: 'REDIS', orders: {...orders, admitted}}]});
            return import(document.querySelector('link[href$="/rates.js"]').href).then(({history, measure}) => {
              const times = [at(20, 0), at(22, 20), at(12, 40), at(14, 60), at(54, 80), at(56, 100)];
              const rates = times.map((one) => measure(one)?.admitted ?? 'none');
              return `${rates} ${history.length}`;
            });
            """);

    assertThat(measured).isEqualTo("none,10,none,10,none,10 2");
  }

  @Tag("proof")
  @Test
  void keepsTheFocusInSalesThatWereAskedForTwice() {
    putSalesOfTwoPages(3015);
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#more-sales");
      browser.cut("admin/v1/skus");
      browser.press("#more-sales");
      browser.awaitText("#sales-problem", "No more sales could be read (no answer).");
      browser.heal();
      browser.hold("admin/v1/skus");
      browser.press("#more-sales");
      browser.press("#more-sales");
      browser.release("admin/v1/skus");
      browser.awaitHidden("#more-sales");
      long all = pipeline.mysql().number("SELECT COUNT(*) FROM products" + SKUS);
      eventually().until(() -> (long) browser.all("#sales-rows tr").size() == all);

      browser.run("document.querySelector('#sales-rows tr:last-child button').focus();");
      String first =
          (String) browser.run("return document.querySelector('#sales-rows tr').dataset.key;");
      pipeline.mysql().execute("UPDATE products SET name = 'Seen' WHERE sku_id = " + first);
      browser.awaitText("#sales-rows tr", "Seen"); // a snapshot later
      assertThat(browser.isShown("#sales-rows tr:last-child button:focus")).isTrue();
    } finally {
      forgetSalesOfTwoPages();
    }
  }

  @Tag("proof")
  @Test
  void showsWhatSomebodyElseHasChangedInTheSalesThatFollowThoseOfASnapshot() {
    putSalesOfTwoPages(3045);
    try {
      page.open(pipeline.tokens().operator());
      browser.press("#more-sales");
      browser.awaitHidden("#more-sales");
      browser.awaitShown("#sales-rows tr[data-key='390001']");

      pipeline.mysql().execute("UPDATE products SET name = 'Renamed' WHERE sku_id = 390001");
      passAMinute();

      browser.awaitText("#sales-rows tr[data-key='390001']", "Renamed");
    } finally {
      forgetSalesOfTwoPages();
    }
  }

  /** With 210 more like it, whose sales are over. */
  private static void putSalesOfTwoPages(long sku) {
    put(sku);
    for (int skuId = 390_001; skuId <= 390_210; skuId++) {
      pipeline
          .mysql()
          .execute(
              "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                  + " limit_per_user, opens_at, closes_at) SELECT "
                  + skuId
                  + ", name, price_cents, stock, initial_stock, policy, limit_per_user,"
                  + " '2020-01-01', '2020-01-02' FROM products WHERE sku_id = "
                  + sku);
    }
  }

  private static void forgetSalesOfTwoPages() {
    pipeline.mysql().execute("DELETE FROM products WHERE sku_id BETWEEN 390001 AND 390210");
  }

  @Test
  void saysWhatWasNotCheckedOrCouldNotBeRead() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object said =
        browser.run(
            """
            const countsWith = (difference) => new Proxy({difference}, {get: (known, name) => known[name] ?? 1});
            const counts = countsWith(0);
            const ledger = {skuId: 7, decides: 'REDIS', balanced: true, units: counts, orders: counts, mysql: counts, queue: null};
            const queue = {queue: 'q', ready: 0, unacked: 0};
            const shard = (queue) => ({partition: {partition: 1}, units: counts, queue});
            const sku = {skuId: 7, name: 'A thing', state: 'OPEN', decides: 'REDIS', opensAt: '', closesAt: ''};
            const services = {redis: 'UP', mysql: 'UP', broker: 'UP', consumer: 'UP', relay: 'UP'};
            const snapshot = {services, durableIn: 'REDIS', lanes: null, stops: null, links: {}, skus: [sku], ledgers: [ledger],
              deadLetters: 0, clickToRow: null, fallback: null, pendingWork: null};
            const text = (selector) => document.querySelector(selector).textContent;
            return import(document.querySelector('link[href$="/board.js"]').href).then(({renderBoard}) => {
              const said = (changed) => {
                renderBoard({...snapshot, ...changed}, null, {});
                return `${text('#ledger-verdict')} | ${text('#sales-rows td:last-child')} | ${text('#tiles div:nth-child(8) dd + dd')}`;
              };
              const off = (terms) => {
                const times = {balanced: false, unbalancedSince: '2026-11-28T10:20:30Z', readAt: '2026-11-28T10:20:42Z'};
                const words = said({ledgers: [{...ledger, ...times, ...terms}]});
                const missing = [...document.querySelectorAll('#missing tbody tr')].map((row) => row.textContent);
                return [words, ...missing].join(', ');
              };
              const outboxes = [0, 1].map((partition) => ({partition, orders: 0, oldestMs: 0}));
              const inFallback = (...shards) => {
                const words = said({
                  skus: [{...sku, decides: 'MYSQL', fallback: 'ACTIVE', shards: 4}],
                  ledgers: [{...ledger, shards}],
                });
                const actions = [...document.querySelectorAll('#actions button')].map((button) => button.textContent);
                return `${words}, ${actions.includes('Reconcile…')}, ${text('#units-out tbody th')}, ${text('#shards caption')}`;
              };
              const ofMySql = {...shard(null), decides: 'MYSQL'};
              const away = (refusing) => {
                renderBoard({...snapshot, lanes: {lanes: [], outboxes, unavailable: [], refusing}}, null, {});
                return text('#away');
              };
              const broker = () => {
                renderBoard({...snapshot, ledgers: [{...ledger, queue: {...queue, ready: 2, unacked: 5}}]}, null, {});
                return `${text('#tiles div:nth-child(7)')} | ${document.getElementById('queues').parentElement.tHead.textContent}`;
              };
              const withoutFallback = (state) => {
                const fallback = {mode: 'off', state, term: 3, startedBy: 'alice', changedAt: '2026-11-28T10:20:30Z',
                  salesOfRedis: 1, salesInFallback: 0, reservedUnits: 0, sales: [], gateways: []};
                renderBoard({...snapshot, fallback}, null, {});
                return text('#fallback-state');
              };
              return [
                said({}),
                said({ledgers: [{...ledger, queue}]}),
                said({ledgers: [{...ledger, shards: [shard(queue), shard(null)]}]}),
                said({ledgers: [{...ledger, shards: [shard(queue), shard(queue)]}]}),
                ...[{units: countsWith(3)}, {units: countsWith(3), balanced: true}, {partition: {difference: 2}}, {queue: {...queue, difference: 5}},
                  {queue: {...queue, difference: -5}}, {shards: [shard(queue), {...shard(queue), mysql: countsWith(1)}]}].map(off),
                said({ledgers: [{...ledger, decides: 'MYSQL'}], services: {...services, mysql: 'DOWN'}}),
                inFallback(ofMySql, shard(queue)),
                inFallback(ofMySql, ofMySql),
                away([1]),
                away([0, 1]),
                withoutFallback('REDIS'),
                withoutFallback('MYSQL'),
                broker(),
              ].join('\\n');
            });
            """);

    String unchecked =
        "The ledger balances, but its queue was not checked | queue not checked | no order this minute";
    String balances =
        "The ledger balances: every unit and every order is accounted for | balances | ";
    String off =
        "The ledger is off: reconcile, and see docs/operations.md | off for 12 s | "
            + "no order this minute";
    assertThat(said)
        .isEqualTo(
            String.join(
                "\n",
                unchecked,
                balances + "no order this minute",
                unchecked,
                balances + "no order this minute",
                off,
                off,
                off + ", Outbox and private queues2, Queue0",
                off + ", Outbox and private queues0, Queue5",
                "The ledger balances, but its queue may still lack orders: wait until it is empty"
                    + " | queue in doubt | no order this minute",
                off,
                balances,
                balances + "no order this minute, true, Admissible in Redis, Stock, by shard",
                balances + "no order this minute, true, Stock in MySQL, Stock, by shard",
                "Redis takes no writes for partitions 1.",
                "Redis takes no writes.",
                "It is switched off (seckill.fallback): while Redis is away, its sales are answered 503.",
                "MySQL decides the sales of Redis. Fallback 3, started by alice, since 10:20:30 UTC.",
                "Broker ready2messages, 5 orders unacked | QueueMessages readyOrders unacked"));
  }

  @Tag("proof")
  @Test
  void saysThatOrderConsumerIsAwayAndWhenItIsBack() {
    onSale(3003);
    page.open(pipeline.tokens().operator());
    page.awaitService("consumer", "UP");
    page.awaitService("broker", "UP");
    page.awaitService("relay", "UP");

    pipeline.stop(Service.CONSUMER);
    page.awaitService("consumer", "DOWN");
    browser.awaitText("#away", "order-consumer does not answer");

    pipeline.run(Service.CONSUMER);
    page.awaitService("consumer", "UP");
    browser.awaitHidden("#away");
  }

  /** A screen reader speaks an alert each time it changes. */
  @Test
  void saysOnceThatTheGatewayDoesNotAnswerAndShowsForHowLong() {
    page.open(pipeline.tokens().operator());
    browser.run(
        """
        window.changes = {away: 0, age: 0};
        for (const id of ['away', 'age']) {
          const count = new MutationObserver(() => window.changes[id]++);
          count.observe(document.getElementById(id), {childList: true});
        }
        ReadableStreamDefaultReader.prototype.read = () => {
          window.silent = true; // after the last snapshot
          return new Promise(() => {});
        };
        """);
    eventually().until(() -> Boolean.TRUE.equals(browser.run("return window.silent;")));
    browser.run("window.changes.away = 0;");
    passAMinute();

    eventually().until(() -> changes("age") >= 3);

    assertThat(changes("away")).isLessThanOrEqualTo(1);
    assertThat(browser.text("#away"))
        .isEqualTo("The gateway does not answer: what you see is old.");
    assertThat(browser.text("#age")).matches("The last figures came \\d+ s ago\\.");
  }

  private static long changes(String id) {
    return (Long) browser.run("return window.changes[arguments[0]];", id);
  }

  @Tag("proof")
  @Test
  void saysOfHowManySkusItsFiguresAre() {
    onSale(3008);
    page.open(pipeline.tokens().operator());
    try {
      for (int skuId = 3901; skuId <= 3925; skuId++) {
        pipeline
            .mysql()
            .execute(
                "INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy,"
                    + " limit_per_user, opens_at, closes_at, state, epoch) SELECT "
                    + skuId
                    + ", name, price_cents, stock, initial_stock, policy, limit_per_user,"
                    + " '2020-01-01', closes_at, 'CLOSED', epoch FROM products"
                    + " WHERE sku_id = 3008");
      }
      long all =
          pipeline.mysql().number("SELECT COUNT(*) FROM products" + SKUS + " AND state <> 'NEW'");
      browser.awaitText("#extent", " of " + all + " SKUs, open sales first");
      assertThat(browser.text("#extent")).matches("Rates.*: (\\d|1\\d|20) of .*");
    } finally {
      pipeline.mysql().execute("DELETE FROM products WHERE sku_id BETWEEN 3901 AND 3925");
    }
  }
}
