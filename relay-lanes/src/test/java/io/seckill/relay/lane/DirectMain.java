package io.seckill.relay.lane;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.lane.LaneMailbox.Reservation;
import io.seckill.relay.publish.OutboundOrder;
import java.util.List;

/** A gateway as a process that admits without end: {@code DirectMain <redis url> <broker url>}. */
final class DirectMain {

  /** Set of the ids of all orders admitted, written together with their orders. */
  static final String ADMITTED = "admitted";

  private static final int PARTITION = 0;
  private static final String SCRIPT =
      "redis.call('LPUSH', KEYS[1], ARGV[1]) redis.call('SADD', KEYS[2], ARGV[2])";

  private DirectMain() {}

  public static void main(String[] urls) {
    TestDirectLanes lanes = TestDirectLanes.start(urls[0], urls[1], 512);
    TestOutbox outbox = new TestOutbox(urls[0]);
    lanes.awaitOpen(PARTITION);
    while (true) {
      Reservation room = lanes.mailboxes().get(PARTITION).reserve(1);
      if (room == null) {
        lanes.awaitOpen(PARTITION);
      } else {
        OrderMessage message = outbox.message(1600);
        String json = OrderMessageCodec.encode(message);
        outbox
            .redis()
            .eval(
                SCRIPT,
                List.of(RedisKeys.privateQueue(PARTITION, room.token()), ADMITTED),
                List.of(json, message.orderId().toString()));
        room.deliver(List.of(OutboundOrder.of(json.getBytes(UTF_8), 0)));
      }
    }
  }
}
