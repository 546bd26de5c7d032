package io.seckill.consumer.intake;

import static java.util.stream.Collectors.joining;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.runtime.BrokerConnections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Owns the intake of all order queues. It is in the last lifecycle phase, so it starts last and
 * stops first: what it needs, from the connection pool to the publishers, stops after it, and
 * nothing else delays its stop.
 *
 * <p>Its health is DOWN when orders may wait in a queue that this process should consume and,
 * because of a defect of its own, does not. An unavailable broker or MySQL does not count: payments
 * and operators do not need both.
 */
@Component
class Intake implements SmartLifecycle, DeliveriesInHand, HealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(Intake.class);

  private final Function<String, QueueIntake> newIntake;
  private final IntakeProperties settings;
  private volatile List<QueueIntake> running = List.of();
  private boolean up = true;

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

  @Override
  public Health health() {
    String failures =
        running.stream().flatMap(intake -> intake.failure().stream()).collect(joining("; "));
    report(failures);
    return failures.isEmpty() ? Health.up().build() : Health.down().build();
  }

  /** Logs once per change. */
  private synchronized void report(String failures) {
    if (failures.isEmpty() != up) {
      up = failures.isEmpty();
      if (up) {
        log.info("ready again: all queues are consumed");
      } else {
        log.error("not ready: {}", failures);
      }
    }
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
