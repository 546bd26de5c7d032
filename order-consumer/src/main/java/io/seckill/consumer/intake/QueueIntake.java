package io.seckill.consumer.intake;

import com.rabbitmq.client.ShutdownSignalException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.support.logging.ThrottledLog;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The intake of one order queue: a writer thread, which opens sessions one after the other and has
 * them store batches, and a settling thread behind it. It is the queue's single active consumer, so
 * the orders of a SKU share its batches; a standby process waits at the broker and takes over when
 * the session here ends.
 */
final class QueueIntake {

  private static final Logger log = LoggerFactory.getLogger(QueueIntake.class);

  /**
   * Most unsettled messages, of up to 16 orders of about 1 kB each: the writer is busy while others
   * wait for confirms or arrive. With five attempts MySQL can refuse all of them within RabbitMQ's
   * delivery time-out.
   */
  static final int PREFETCH = 200;

  private static final Duration GATE_POLL = Duration.ofMillis(200);
  private static final Duration RECONNECT_PAUSE = Duration.ofMillis(500);

  /** The pause after a batch that MySQL failed to store doubles so often, to 16 s. */
  private static final int DOUBLINGS = 5;

  /** Longest time at stop to settle the batches already taken; Spring stops waiting after 20 s. */
  static final Duration STOP_TIMEOUT = Duration.ofSeconds(12);

  /** The state that operators see as the value of a gauge. */
  enum IntakeState {
    STOPPED(0),
    CONNECTING(1),
    RUNNING(2),
    /** MySQL takes no orders. */
    PAUSED(3);

    private final int number;

    IntakeState(int number) {
      this.number = number;
    }
  }

  private final String queue;
  private final BrokerConnections connections;
  private final DatabaseGate database;
  private final IntakeProperties settings;
  private final ThrottledLog brokerFailures = new ThrottledLog(log);
  private final IntakeProgress progress = new IntakeProgress(System::nanoTime);
  private final SettlingThread settling;
  private final Thread writer;
  private final CountDownLatch stopRequested = new CountDownLatch(1);
  private volatile IntakeState state = IntakeState.STOPPED;
  private volatile @Nullable IntakeSession current;

  QueueIntake(
      String queue,
      BrokerConnections connections,
      DatabaseGate database,
      Settler settler,
      IntakeProperties settings,
      MeterRegistry meters) {
    this.queue = queue;
    this.connections = connections;
    this.database = database;
    this.settings = settings;
    this.settling = new SettlingThread("settle-" + queue, settler, progress);
    this.writer = new Thread(this::run, "store-" + queue);
    Gauge.builder("seckill.consumer.intake.state", this, QueueIntake::stateNumber)
        .tag("queue", queue)
        .description("0 stopped or stuck, 1 connecting, 2 running, 3 paused because of MySQL")
        .register(meters);
  }

  private int stateNumber() {
    return failure().isPresent() ? IntakeState.STOPPED.number : state.number;
  }

  /** Why this process does not consume the queue, when the cause is a defect. */
  Optional<String> failure() {
    return progress.failure().map(failure -> queue + ": " + failure);
  }

  void start() {
    settling.start();
    writer.start();
  }

  String queue() {
    return queue;
  }

  /** The session in which this process is the queue's active consumer; null when there is none. */
  @Nullable IntakeSession activeSession() {
    IntakeSession session = current;
    return session != null && session.isActive() ? session : null;
  }

  /** Takes no further batch; returns at once. */
  void requestStop() {
    stopRequested.countDown();
    IntakeSession session = current;
    if (session != null) {
      session.inbox().wake();
    }
  }

  /** Waits until the batches already taken are settled and both threads have ended. */
  void awaitStopped(Duration atMost) {
    try {
      writer.join(Math.max(1, atMost.toMillis()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Interrupts the writer if it still runs; the broker redelivers what is not settled by now. */
  void giveUp() {
    if (writer.isAlive()) {
      log.warn("{} did not stop in time, its orders go back to the broker", queue);
      writer.interrupt();
    }
  }

  private void run() {
    try {
      while (isWanted()) {
        progress.moved();
        runSession();
      }
    } catch (InterruptedException e) {
      log.info("{}: interrupted while stopping", queue);
    } finally {
      state = IntakeState.STOPPED;
      settling.stop(Duration.ofSeconds(1));
    }
  }

  private boolean isWanted() {
    return stopRequested.getCount() > 0;
  }

  /**
   * Runs one session of the consumer; returns when it has ended, for any reason: an Error, too,
   * ends only its session, so that the broker redelivers the orders and this thread tries again.
   */
  private void runSession() throws InterruptedException {
    try {
      if (database.isOpenToOrders()) {
        openAndConsume();
      } else {
        state = IntakeState.PAUSED;
        pause(GATE_POLL);
      }
    } catch (IOException | ShutdownSignalException e) {
      brokerFailures.warn(queue + ": no session with the broker", e);
      pause(RECONNECT_PAUSE);
    } catch (InterruptedException e) {
      throw e;
    } catch (Throwable e) {
      progress.failed(e);
      log.error("{}: a defect has ended the session", queue, e);
      pause(RECONNECT_PAUSE);
    }
  }

  private void openAndConsume() throws IOException, InterruptedException {
    state = IntakeState.CONNECTING;
    try (IntakeSession session = IntakeSession.open(connections, queue, PREFETCH)) {
      state = IntakeState.RUNNING;
      current = session;
      session.storeBatches(database, settling, progress, settings.batch(), this::isWanted);
      // Before the session is closed: acks need it.
      if (!settling.awaitIdle(STOP_TIMEOUT)) {
        log.warn("{}: not everything was settled, the broker will redeliver it", queue);
      }
    } finally {
      current = null;
    }
    pauseAfterFailure();
  }

  /**
   * MySQL may refuse orders and accept the probe, for example with a full disk; each session then
   * takes orders and returns them. A standby process may try meanwhile.
   */
  private void pauseAfterFailure() throws InterruptedException {
    int failedBatches = progress.failedBatches();
    if (failedBatches > 0) {
      state = IntakeState.PAUSED;
      pause(RECONNECT_PAUSE.multipliedBy(1L << Math.min(failedBatches - 1, DOUBLINGS)));
    }
  }

  private void pause(Duration pause) throws InterruptedException {
    boolean unused = stopRequested.await(pause.toMillis(), TimeUnit.MILLISECONDS);
  }
}
