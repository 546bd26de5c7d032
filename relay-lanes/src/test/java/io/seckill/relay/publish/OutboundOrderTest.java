package io.seckill.relay.publish;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OutboundOrderTest {

  /** RabbitMQ refuses it, which would end every channel of the lane. */
  @Test
  void anUnreadableEntryIsPublishedUpToTheBoundOfTheBroker() {
    byte[] longest = new byte[65_536];
    byte[] longer = new byte[65_537];

    assertThat(OutboundOrder.of(longest, 0).published()).isSameAs(longest);
    assertThat(OutboundOrder.of(longer, 0).published()).isEqualTo(longest);
    assertThat(OutboundOrder.of(longer, 0).body()).isSameAs(longer);
  }
}
