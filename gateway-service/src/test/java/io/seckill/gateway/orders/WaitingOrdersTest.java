package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.orders.WaitingOrders.Request;
import io.seckill.gateway.orders.WaitingOrders.User;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WaitingOrdersTest {

  @Test
  void asksForAUserOncePerBatchAndAnswersAllItsRequests() {
    List<Request> batch = LongStream.range(0, 64).mapToObj(n -> new Request(n % 3)).toList();

    List<User> users = WaitingOrders.users(batch);

    assertThat(users).extracting(user -> user.id).containsExactlyInAnyOrder("0", "1", "2");
    users.forEach(User::answer);
    assertThat(batch).allMatch(request -> request.answer.isDone());
  }
}
