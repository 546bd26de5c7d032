package io.seckill.consumer.intake;

import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** What intake must never do; a mutation calls it instead of the method of the same name. */
public final class MutantIntake {

  private static final ThreadLocal<IntakeSession> SESSION = new ThreadLocal<>();

  private MutantIntake() {}

  static boolean isOpen(IntakeSession session) {
    SESSION.set(session);
    return session.isOpen();
  }

  /** Acks orders as soon as they are taken. */
  static List<Delivery> take(Inbox inbox, int max, Duration linger, Duration idle)
      throws IOException, InterruptedException {
    List<Delivery> batch = inbox.take(max, linger, idle);
    SESSION.get().ack(batch);
    return batch;
  }

  /** Does not ack stored orders: they are acked already. */
  static void ack(IntakeSession session, List<Delivery> deliveries) {}

  /** Acks all deliveries up to this one. */
  static void basicAck(Channel channel, long tag, boolean multiple) throws IOException {
    channel.basicAck(tag, true);
  }
}
