package io.seckill.consumer.intake;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.BrokerConnections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Owns the intake of all order queues. It is in the last lifecycle phase, so it starts last and
 * stops first: what it needs, from the connection pool to the publishers, stops after it, and
 * nothing else delays its stop.
 */
@Component
class Intake implements SmartLifecycle, DeliveriesInHand {

  private final Function<String, QueueIntake> newIntake;
  private final IntakeProperties settings;
  private volatile List<QueueIntake> running = List.of();

  Intake(
      BrokerConnections connections,
      DatabaseGate database,
      Settler settler,
      IntakeProperties settings,
      MeterRegistry meters) {
    this.settings = settings;
    this.newIntake =
        queue -> new QueueIntake(queue, connections, database, settler, settings, meters);
  }

  @Override
  public boolean isAutoStartup() {
    return settings.enabled();
  }

  @Override
  public void start() {
    List<QueueIntake> intakes = new ArrayList<>();
    for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
      intakes.add(newIntake.apply(BrokerTopology.orderQueue(i)));
    }
    intakes.forEach(QueueIntake::start);
    running = List.copyOf(intakes);
  }

  @Override
  public Map<String, Long> unacked() {
    Map<String, Long> unacked = new HashMap<>();
    for (QueueIntake intake : running) {
      IntakeSession session = intake.activeSession();
      if (session != null) {
        unacked.put(intake.queue(), session.unacked());
      }
    }
    return unacked;
  }

  /** Queues that this process does not consume because of a defect, each with its description. */
  List<String> failures() {
    return running.stream().flatMap(intake -> intake.failure().stream()).toList();
  }

  /**
   * Asks all queue intakes to stop, then waits for all within one deadline; interrupts those that
   * are late and waits one more second.
   */
  @Override
  public void stop() {
    running.forEach(QueueIntake::requestStop);
    awaitStopped(QueueIntake.STOP_TIMEOUT.plusSeconds(3));
    running.forEach(QueueIntake::giveUp);
    awaitStopped(Duration.ofSeconds(1));
    running = List.of();
  }

  private void awaitStopped(Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    running.forEach(intake -> intake.awaitStopped(Duration.ofNanos(deadline - System.nanoTime())));
  }

  @Override
  public boolean isRunning() {
    return !running.isEmpty();
  }
}
