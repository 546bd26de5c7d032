package io.seckill.common.order;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OrderStatusTest {

  @Test
  void neverGoesBack() {
    for (OrderStatus earlier : OrderStatus.values()) {
      for (OrderStatus later : OrderStatus.values()) {
        assertThat(later.replaces(earlier) && earlier.replaces(later)).isFalse();
      }
    }
  }

  @Test
  void letsNothingFollowAFinalStatus() {
    for (OrderStatus status : OrderStatus.values()) {
      if (status.isFinal()) {
        for (OrderStatus next : OrderStatus.values()) {
          assertThat(next.replaces(status)).as("%s after %s", next, status).isFalse();
        }
      }
    }
  }

  @Test
  void isFoundAgainByItsLetter() {
    for (OrderStatus status : OrderStatus.values()) {
      assertThat(OrderStatus.ofLetter(status.letter())).isEqualTo(status);
    }
  }
}
