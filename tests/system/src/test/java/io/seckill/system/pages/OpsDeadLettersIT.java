package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.testing.Eventually;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One order, dead letters and unexplained charges. */
class OpsDeadLettersIT extends OpsPageFixture {

  /** Of the label the text, whose line may be at the top of a higher box. */
  private static final String LABEL_IS_BESIDE_ITS_FIELD =
      """
      const text = document.createRange();
      text.selectNodeContents(document.querySelector('#order-form label'));
      const [label, field] = [text, document.querySelector('#order-id')].map((part) => {
        const {top, bottom} = part.getBoundingClientRect();
        return (top + bottom) / 2;
      });
      return Math.abs(label - field) < 2;
      """;

  @Tag("proof")
  @Test
  void showsWhatBecameOfAShoppersOrder() {
    onSale(3055);
    String order = pipeline.shop().buy(3055, 3055, 2, "asked-by-support").text("orderId");
    eventually().until(() -> pipeline.sales().settledOrders(3055) == 1);
    page.open(pipeline.tokens().operator());
    lookUp("x");
    browser.awaitText("#order-found", "INVALID_REQUEST: order must be a whole number");
    lookUp("4711");
    browser.awaitText("#order-found", "UNKNOWN_ORDER: MySQL does not have it");

    lookUp(order);
    browser.awaitText("#order-found", "Order " + order + " is CONFIRMED · user 3055");
    assertThat(browser.text("#order-found"))
        .contains("SKU 3055 × 2 at 19.99")
        .endsWith("payment not begun");
    assertThat((Boolean) browser.run(LABEL_IS_BESIDE_ITS_FIELD)).isTrue();
    assertThat(browser.accessibilityFaults()).isEqualTo(List.of());
  }

  private static void lookUp(String order) {
    browser.type("#order-id", order);
    browser.press("#order-form button");
  }

  @Tag("proof")
  @Test
  void showsEachRowOnceWhenMoreIsClickedTwice() {
    for (int charge = 1; charge <= 25; charge++) {
      pipeline
          .mysql()
          .execute(
              "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
                  + " amount_cents, detail) VALUES (UNHEX(SHA2('twice %d', 256)), 'SECOND_CHARGE',"
                      .formatted(charge)
                  + " 'CHARGED', 'ch-twice-%d', 4711, 9900, '')".formatted(charge));
    }
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#more-charges");
      browser.cut("unexplained-charges?state=OPEN&limit=20&after");
      browser.press("#more-charges");
      browser.awaitText("#charges-problem", "They could not be read (no answer).");
      browser.heal();
      eventually().until(() -> !browser.isShown("#charges-problem:not(:empty)"));
      browser.hold("unexplained-charges?state=OPEN&limit=20&after");
      browser.press("#more-charges");
      browser.press("#more-charges");
      assertThat(browser.held("unexplained-charges?state=OPEN&limit=20&after")).isOne();
      browser.release("unexplained-charges?state=OPEN&limit=20&after");
      eventually().until(() -> browser.all("#charges tr").size() == 25);
    } finally {
      pipeline.mysql().execute("DELETE FROM unexplained_charge WHERE charge_id LIKE 'ch-twice-%'");
    }
  }

  @Tag("proof")
  @Test
  void replaysAndDiscardsDeadLetters() throws Exception {
    page.open(pipeline.tokens().operator());
    publish(0, "not an order");
    publish(Partition.ofSku(3004), order(3004, 77));
    browser.awaitText("#dead-letters", "UNREADABLE");
    browser.awaitText("#dead-letters", "UNKNOWN_SKU");
    assertThat(browser.text("table:has(#dead-letters) thead")).contains("Last, UTC");

    put(3004); // the SKU exists from now on
    browser.pressLabelled(letter("UNKNOWN_SKU"), "Discard…");
    browser.awaitText("#confirm-text", "its units and quota go back");
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
    browser.pressLabelled(letter("UNKNOWN_SKU"), "Replay…");
    page.confirm("replay dead letter");
    browser.pressLabelled(letter("UNREADABLE"), "Replay…");
    page.confirm("replay dead letter");
    String attempts = "SELECT MAX(attempts) FROM dead_letter WHERE reason = 'UNREADABLE'";
    eventually() // it has come back, as unreadable as it was
        .until(() -> pipeline.mysql().number(attempts) > 1);
    browser.pressLabelled(letter("UNREADABLE"), "Discard…");
    browser.awaitText("#confirm-text", "no units go back");
    page.fill("reason", "a test").confirm("discard dead letter");

    browser.awaitShown("#no-dead-letters");
    eventually().until(() -> pipeline.sales().settledOrders(3004) == 1);
  }

  @Tag("proof")
  @Test
  void readsOnFromOldDeadLettersToNewerOnes() {
    for (int letter = 1; letter <= 21; letter++) {
      keepLetter("of-the-page-" + letter, null, "UNREADABLE");
    }
    try {
      page.open(pipeline.tokens().operator());
      browser.pressLabelled("#more-dead-letters", "Newer ones");

      long newest = pipeline.mysql().number("SELECT MAX(id) FROM dead_letter");
      browser.awaitShown("#dead-letters tr:last-child[data-letter='" + newest + "']");
    } finally {
      forgetLetters();
    }
  }

  /** One call has 200 at most. */
  @Test
  void keepsAllDeadLettersThatAreShownWhenTheyAreReadAgain() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const letter = (id) => ({id, reason: 'UNREADABLE', detail: '', attempts: 1, lastFailedAt: '2026-11-29T10:20:30Z'});
            const letters = Array.from({length: 260}, (_, i) => letter(i + 1));
            window.fetch = async (url) => {
              const {limit, after = 0} = Object.fromEntries(new URL(url, location).searchParams);
              const deadLetters = letters.filter(({id}) => id > after).slice(0, limit);
              const next = deadLetters.length < limit ? null : deadLetters.at(-1).id;
              return new Response(JSON.stringify({deadLetters, next}));
            };
            const more = document.querySelector('#more-dead-letters');
            const note = () => `${document.querySelectorAll('#dead-letters tr').length} ${more.hidden}`;
            return import(document.querySelector('link[href$="/dead-letters.js"]').href).then(async ({readDeadLetters}) => {
              await readDeadLetters();
              const shown = [note()];
              while (!more.hidden) {
                more.click();
                await new Promise((resolve) => setTimeout(resolve));
              }
              shown.push(note());
              letters.shift();
              await readDeadLetters();
              shown.push(note());
              letters.push(letter(261));
              await readDeadLetters();
              return [...shown, note()].join();
            });
            """);

    assertThat(shown).isEqualTo("20 false,260 true,259 true,259 false");
  }

  /** As after an outage, when MySQL is slow and dead letters keep coming. */
  @Test
  void showsDeadLettersWhoseReadTakesLongerThanTheirNumberStays() {
    browser.open("http://127.0.0.1:" + pipeline.adminPort() + "/ops");

    Object shown =
        browser.run(
            """
            const answers = [];
            window.fetch = () => new Promise((resolve) => answers.push(resolve));
            const answer = async (...ids) => {
              const deadLetters = ids.map((id) => ({id, reason: 'UNREADABLE', detail: '', attempts: 1, lastFailedAt: '2026-11-29T10:20:30Z'}));
              answers.shift()(new Response(JSON.stringify({deadLetters, next: null})));
              for (let turn = 0; turn < 100 && rows() < ids.length; turn++) await new Promise((resolve) => setTimeout(resolve));
            };
            const rows = () => document.querySelectorAll('#dead-letters tr').length;
            const note = () => `${rows()} shown, ${answers.length} asked`;
            return import(document.querySelector('link[href$="/dead-letters.js"]').href).then(async ({deadLettersChanged}) => {
              [1, 2, 3].forEach(deadLettersChanged);
              const shown = [note()];
              await answer(1);
              shown.push(note());
              deadLettersChanged(3);
              shown.push(note());
              await answer(1, 2, 3);
              deadLettersChanged(3);
              return [...shown, note()].join();
            });
            """);

    assertThat(shown)
        .isEqualTo("0 shown, 1 asked,1 shown, 0 asked,1 shown, 1 asked,3 shown, 0 asked");
  }

  @Test
  void keepsTheFocusOnADeadLetterWhenAnotherOneComes() {
    keepLetter("of-the-page-first", null, "UNREADABLE");
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown(letter("UNREADABLE"));
      browser.run("document.querySelector('#dead-letters button').focus();");

      keepLetter("of-the-page-second", null, "FAILED_TOO_OFTEN");

      browser.awaitShown(letter("FAILED_TOO_OFTEN"));
      assertThat(browser.isShown("#dead-letters button:focus")).isTrue();
    } finally {
      forgetLetters();
    }
  }

  /** DeadLetterResolver writes nothing for these. */
  @Tag("proof")
  @Test
  void promisesNoRejectionWhereDiscardingOnlyMarksTheLetter() {
    pipeline.admin().sellStrong(3042, PurchasePolicy.LIMITED, 5, 100);
    onSale(3043);
    keepLetter("of-the-page-strong", 3042L, "OTHER_POLICY");
    keepLetter("of-the-page-stored", 3043L, "OTHER_CONTENT");
    keepLetter("of-the-page-refused", 3043L, "FAILED_TOO_OFTEN");
    try {
      page.open(pipeline.tokens().operator()).choose(3042); // else who decides it is not shown yet
      assertDiscardSays("OTHER_POLICY", "Only marks the letter as done: its sale is strong");
      assertDiscardSays("OTHER_CONTENT", "Only marks the letter as done: MySQL has another order");
      assertDiscardSays("FAILED_TOO_OFTEN", "its units and quota go back");
    } finally {
      forgetLetters();
    }
  }

  private static void assertDiscardSays(String reason, String text) {
    browser.pressLabelled(letter(reason), "Discard…");
    browser.awaitText("#confirm-text", text);
    browser.press("#confirm-no");
    browser.awaitHidden("#confirm");
  }

  /** An open dead letter, whose order is readable if it has a SKU. */
  private static void keepLetter(String payload, @Nullable Long skuId, String reason) {
    pipeline
        .mysql()
        .execute(
            "INSERT INTO dead_letter (order_id, sku_id, payload, payload_hash, reason, detail,"
                + " attempts, first_failed_at, last_failed_at) VALUES"
                + " (%1$s, %1$s, '%2$s', UNHEX(SHA2('%2$s', 256)), '%3$s', '', 1, NOW(), NOW())"
                    .formatted(skuId, payload, reason));
  }

  private static void forgetLetters() {
    pipeline.mysql().execute("DELETE FROM dead_letter WHERE payload LIKE 'of-the-page-%'");
  }

  @Tag("proof")
  @Test
  void showsAndClosesUnexplainedCharges() {
    page.open(pipeline.tokens().operator());
    pipeline
        .mysql()
        .execute(
            "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
                + " amount_cents, detail) VALUES (UNHEX(SHA2('a page', 256)), 'SECOND_CHARGE',"
                + " 'CHARGED', 'ch-page', 4711, 9900, '')");
    browser.awaitText("#charges", "ch-page");
    browser.awaitText("#charges", "99.00");
    assertThat(browser.text("table:has(#charges) thead")).contains("Received, UTC");

    browser.pressLabelled("#charges tr[data-charge=ch-page] button", "Close…");
    browser.awaitText("#confirm-text", "no money is moved");
    page.fill("reason", "refunded at the provider").confirm("close charge ch-page");

    browser.awaitShown("#no-charges");
    browser.awaitShown("#charges-title:focus");
  }

  /** The number of them in each snapshot stays 1. */
  @Tag("proof")
  @Test
  void showsAChargeThatCameWhenAnotherOneWasClosed() throws SQLException {
    String insert =
        "INSERT INTO unexplained_charge (report_hash, reason, kind, charge_id, order_id,"
            + " amount_cents, detail) VALUES (UNHEX(SHA2('%1$s', 256)), 'SECOND_CHARGE',"
            + " 'CHARGED', '%1$s', 4711, 9900, '')";
    pipeline.mysql().execute(insert.formatted("ch-closed"));
    try {
      page.open(pipeline.tokens().operator());
      browser.awaitShown("#charges tr[data-charge=ch-closed]");
      browser.awaitText("#tiles div:nth-child(13) dd", "1");
      try (var mysql = pipeline.mysql().connect();
          var change = mysql.createStatement()) {
        change.execute("BEGIN");
        change.execute("DELETE FROM unexplained_charge WHERE charge_id = 'ch-closed'");
        change.execute(insert.formatted("ch-new"));
        change.execute("COMMIT");
      }
      passAMinute();

      browser.awaitShown("#charges tr[data-charge=ch-new]");
    } finally {
      pipeline
          .mysql()
          .execute("DELETE FROM unexplained_charge WHERE charge_id IN ('ch-closed', 'ch-new')");
    }
  }

  private static String letter(String reason) {
    return "#dead-letters tr[data-reason=" + reason + "] button";
  }

  private static String order(long skuId, long user) {
    int partition = Partition.ofSku(skuId);
    long now = System.currentTimeMillis();
    return OrderMessageCodec.encode(
        new OrderMessage(
            OrderId.of(now, partition, 200, 1),
            user,
            skuId,
            1,
            "a-replayed-order",
            PurchasePolicy.LIMITED,
            1,
            1,
            now,
            null));
  }

  private static void publish(int partition, String text) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(pipeline.brokerUrl());
    try (Connection connection = factory.newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.basicPublish(
          BrokerTopology.ORDERS_EXCHANGE,
          BrokerTopology.routingKey(partition),
          true,
          new BasicProperties.Builder().deliveryMode(2).build(),
          text.getBytes(StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
    }
  }
}
