package io.seckill.common.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OrderMessageCodecTest {

  private static final long SKU = 1001;
  private static final OrderId ID =
      OrderId.of(OrderId.EPOCH_MS + 1_000_000, Partition.ofSku(SKU), 3, 7);
  private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  private static final String VALID = OrderMessageCodec.encode(message(null));

  private static OrderMessage message(String traceparent) {
    return new OrderMessage(
        ID,
        42,
        SKU,
        2,
        "checkout-0001",
        PurchasePolicy.LIMITED,
        3,
        17,
        1_760_000_000_123L,
        traceparent);
  }

  @Test
  void writesTheWireFormOfTheContract() {
    assertThat(VALID)
        .isEqualTo(
            "{\"v\":1,\"orderId\":\""
                + ID
                + "\",\"userId\":42,\"skuId\":1001,\"quantity\":2,"
                + "\"requestId\":\"checkout-0001\",\"policy\":\"LIMITED\",\"epoch\":3,\"seq\":17,"
                + "\"admittedAt\":1760000000123}");
  }

  @Test
  void readsBackWhatItWrites() throws Exception {
    assertThat(OrderMessageCodec.decode(VALID)).isEqualTo(message(null));
    assertThat(OrderMessageCodec.decode(OrderMessageCodec.encode(message(TRACE))))
        .isEqualTo(message(TRACE));
  }

  @Test
  void readsMembersInAnyOrderAndWithSpaces() throws Exception {
    String shuffled =
        VALID.replace("{\"v\":1,", "{ ").replace("\"epoch\":3", "\"epoch\" : 3 , \"v\":1");

    assertThat(OrderMessageCodec.decode(shuffled)).isEqualTo(message(null));
  }

  @ParameterizedTest(name = "{0} -> {1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"v\":1 | \"v\":\"1\"",
        "\"v\":1 | \"w\":1",
        "\"v\":1 | \"v\":0",
        "\"userId\":42 | \"userId\":0",
        "\"userId\":42 | \"userId\":-42",
        "\"userId\":42 | \"userId\":\"42\"",
        "\"userId\":42 | \"userId\":9223372036854775808",
        "\"userId\":42 | \"userId\":null",
        "\"skuId\":1001 | \"skuId\":1002",
        "\"skuId\":1001 | \"skuId\":9007199254740992",
        "\"quantity\":2 | \"quantity\":0",
        "\"quantity\":2 | \"quantity\":-1",
        "\"quantity\":2 | \"quantity\":1.9",
        "\"quantity\":2 | \"quantity\":\"2\"",
        "\"quantity\":2 | \"quantity\":2147483648",
        "\"quantity\":2 | \"quantity\":4294967298",
        "\"quantity\":2 | \"quantity\":10001",
        "\"quantity\":2 | \"quantity\":2,\"quantity\":3",
        "\"quantity\":2 | \"quantity\":[2]",
        "checkout-0001 | short",
        "checkout-0001 | check{out}-0001",
        "checkout-0001 | checkout 0001",
        "LIMITED | BOUNDLESS",
        "\"policy\":\"LIMITED\" | \"policy\":1",
        "\"epoch\":3 | \"epoch\":0",
        "\"epoch\":3 | \"epoch\":100000000000000",
        "\"seq\":17 | \"seq\":0",
        "\"seq\":17 | \"seq\":100000000000000",
        "\"seq\":17 | \"seq\":9223372036854775807",
        "\"admittedAt\":1760000000123 | \"admittedAt\":0",
        "\"admittedAt\":1760000000123 | \"admittedAt\":253402300800000",
        "\"seq\":17 | \"seq\":17,\"extra\":1,\"extra\":2",
        "\"seq\":17 | \"seq\":17,\"extra\":{\"a\":1,\"a\":2}",
        "\"seq\":17 | \"seq\":17,\"extra\":[1",
        "\"seq\":17 | \"seq\":17,\"traceparent\":\"00-xyz\"",
        "\"orderId\":\" | \"orderId\":\"-"
      })
  void refusesWhatIsNotWithinItsBounds(String part, String replacement) {
    String bad = VALID.replace(part, replacement);

    assertThat(bad).isNotEqualTo(VALID);
    assertThatThrownBy(() -> OrderMessageCodec.decode(bad))
        .isInstanceOf(UnreadableMessageException.class)
        .isNotInstanceOf(UnsupportedVersionException.class);
  }

  @Test
  void readsTheLargestCountsAndTheLastTimeOfMySql() throws Exception {
    String last =
        VALID
            .replace("\"epoch\":3", "\"epoch\":99999999999999")
            .replace("\"seq\":17", "\"seq\":99999999999999")
            .replace("1760000000123", "253402300799999");

    assertThat(OrderMessageCodec.encode(OrderMessageCodec.decode(last))).isEqualTo(last);
  }

  /** The files hold messages as earlier releases wrote them, and are never changed. */
  @ParameterizedTest
  @ValueSource(strings = {"order-v1.json", "order-v1-traced.json"})
  void readsAndWritesEveryMessageThatWasEverWritten(String recorded) throws Exception {
    byte[] body = RecordedMessages.read(recorded);

    OrderMessage order = OrderMessageCodec.decode(body);

    assertThat(order).isEqualTo(message(recorded.contains("traced") ? TRACE : null));
    assertThat(OrderMessageCodec.encode(order).getBytes(StandardCharsets.UTF_8)).isEqualTo(body);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"giftWrap\":true",
        "\"weight\":1e999",
        "\"number\":92233720368547758070",
        "\"V\":2",
        "\"channel\":\"app \\u4e2d\"",
        "\"address\":{\"v\":2,\"lines\":[\"a\",null,{\"orderId\":7}]}"
      })
  void ignoresMembersOfALaterRelease(String added) throws Exception {
    assertThat(OrderMessageCodec.decode(VALID.replace("}", "," + added + "}")))
        .isEqualTo(message(null));
    assertThat(OrderMessageCodec.decode(VALID.replace("{", "{" + added + ",")))
        .isEqualTo(message(null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"v\":2} | 2",
        "{\"v\":-1} | -1",
        "{\"orderId\":7,\"userId\":\"u-42\",\"skuId\":[1001],\"v\":3} | 3",
        "{\"userId\":92233720368547758070,\"quantity\":{\"boxes\":2},\"v\":9} | 9"
      })
  void refusesAnotherVersionByItsName(String text, String version) {
    assertThatThrownBy(() -> OrderMessageCodec.decode(text))
        .isInstanceOf(UnsupportedVersionException.class)
        .hasMessage("version " + version + ", this service reads version 1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "42", "\"text\"", "{", "{}", "not json"})
  void refusesWhatIsNotAMessageAtAll(String text) {
    assertThatThrownBy(() -> OrderMessageCodec.decode(text))
        .isInstanceOf(UnreadableMessageException.class);
  }

  @Test
  void refusesTextAfterTheMessage() {
    assertThatThrownBy(() -> OrderMessageCodec.decode(VALID + "{}"))
        .isInstanceOf(UnreadableMessageException.class);
  }

  /** The text forms, as reconciliation reads Redis's lists, would not be the same message. */
  @ParameterizedTest
  @ValueSource(strings = {"UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE"})
  void readsUtf8Only(Charset other) {
    assertThatThrownBy(() -> OrderMessageCodec.decode(VALID.getBytes(other)))
        .isInstanceOf(UnreadableMessageException.class);
  }

  @Test
  void refusesBrokenUtf8AndOversize() {
    byte[] broken = VALID.getBytes(StandardCharsets.UTF_8);
    broken[VALID.indexOf("checkout")] = (byte) 0xC3;

    assertThatThrownBy(() -> OrderMessageCodec.decode(broken))
        .isInstanceOf(UnreadableMessageException.class);
    assertThatThrownBy(() -> OrderMessageCodec.decode(new byte[OrderMessageCodec.MAX_BYTES + 1]))
        .isInstanceOf(UnreadableMessageException.class)
        .hasMessageContaining("bytes");
  }
}
