package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.UnreadableMessageException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpiryMessageTest {

  @Test
  void keepsWhatItCarries() throws Exception {
    ExpiryMessage message =
        new ExpiryMessage(1001, List.of(new OrderId(5), new OrderId(Long.MAX_VALUE)));

    assertThat(new String(message.encode(), StandardCharsets.UTF_8))
        .isEqualTo("{\"v\":1,\"skuId\":1001,\"orderIds\":[\"5\",\"9223372036854775807\"]}");
    assertThat(ExpiryMessage.decode(message.encode())).isEqualTo(message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "[]",
        "{\"v\":2,\"skuId\":1,\"orderIds\":[\"5\"]}",
        "{\"skuId\":1,\"orderIds\":[\"5\"]}",
        "{\"v\":1,\"orderIds\":[\"5\"]}",
        "{\"v\":1,\"skuId\":-1,\"orderIds\":[\"5\"]}",
        "{\"v\":1,\"skuId\":1}",
        "{\"v\":1,\"skuId\":1,\"orderIds\":[]}",
        "{\"v\":1,\"skuId\":1,\"orderIds\":[5]}",
        "{\"v\":1,\"skuId\":1,\"orderIds\":[\"x\"]}",
        "{\"v\":1,\"skuId\":1,\"orderIds\":[\"5\"]} {}"
      })
  void refusesWhatItCannotTrust(String body) {
    assertThatThrownBy(() -> ExpiryMessage.decode(body.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(UnreadableMessageException.class);
  }
}
