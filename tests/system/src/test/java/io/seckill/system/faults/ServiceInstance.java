package io.seckill.system.faults;

import io.seckill.system.agent.AgentServer;
import io.seckill.system.agent.AgentSession;
import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceMetrics;
import io.seckill.system.process.ServiceProcess;
import io.seckill.testing.Eventually;
import java.io.File;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;

/** One of the six processes: its links, its agent, and the faults that a test can inject. */
public final class ServiceInstance implements AutoCloseable {

  private static final Duration DEATH_LIMIT = Eventually.SOON;

  private final String name;
  private final Links links;
  private final AgentServer agents;
  private final int healthPort;
  private final ServiceProcess process;

  private ServiceInstance(
      String name, Links links, AgentServer agents, int healthPort, ServiceProcess process) {
    this.name = name;
    this.links = links;
    this.agents = agents;
    this.healthPort = healthPort;
    this.process = process;
  }

  /** Starts the process; returns at once, see {@link #awaitReady}. */
  static ServiceInstance start(
      ServicesUnderTest product,
      Service service,
      String name,
      Links links,
      AgentServer agents,
      int healthPort,
      Map<String, String> environment) {
    agents.expect(service, name, Failpoints.of(service));
    ServiceProcess process =
        ServiceProcess.start(
            service,
            product.runs(service),
            "faults-" + name,
            healthPort,
            environment,
            product.jvmFlags(service));
    return new ServiceInstance(name, links, agents, healthPort, process);
  }

  public String name() {
    return name;
  }

  /** The port of its health and its metrics. */
  public int healthPort() {
    return healthPort;
  }

  Links links() {
    return links;
  }

  /** The agent in the process; the first call after a start loads it, which takes a second. */
  public synchronized AgentSession agent() {
    return agents
        .session(name)
        .orElseGet(
            () -> {
              process.awaitAnswers();
              return agents.attach(name, process.pid());
            });
  }

  /** Threads of the process now. */
  int threads() {
    return entries("task");
  }

  /** Open files and sockets of the process now. */
  int openFiles() {
    return entries("fd");
  }

  private int entries(String folder) {
    String[] entries = new File("/proc/" + process.pid() + "/" + folder).list();
    return entries == null ? 0 : entries.length;
  }

  /** Number of lines of its log that contain a text. */
  public long logged(String text) {
    return process.logged(text);
  }

  ServiceMetrics metrics(String... meters) {
    return ServiceMetrics.of(healthPort, meters);
  }

  /** The sum of one meter's samples, see {@link ServiceMetrics#sum}. */
  public double sum(String meter, String... labels) {
    return metrics(meter).sum(meter, labels);
  }

  /** As {@link #sum}, of several services together. */
  static double sum(List<ServiceInstance> services, String meter, String... labels) {
    return services.stream().mapToDouble(service -> service.sum(meter, labels)).sum();
  }

  public boolean isReady() {
    return process.isReady();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public void awaitReady() {
    process.awaitReady();
  }

  /** Waits until this failpoint, which is armed, has ended the process. */
  void awaitDeathAt(String point) {
    process.awaitDeath(DEATH_LIMIT);
    agent().awaitReached(point, DEATH_LIMIT); // its last line may be read after its end
  }

  public void kill() {
    process.kill();
  }

  /** Sends SIGTERM and waits for the process to shut down. */
  public void stop() {
    process.stop();
  }

  /** As {@link #stop()}, but kills a process that does not end. */
  public void terminate() {
    process.terminate();
  }

  /** Exit code of the ended process. */
  public int exitCode() {
    return process.exitCode();
  }

  public void freeze() {
    process.freeze();
  }

  public boolean isFrozen() {
    return process.isFrozen();
  }

  public void thaw() {
    process.thaw();
  }

  /** Starts it again after its end; returns at once. */
  public void restart() {
    restart(Map.of());
  }

  /**
   * As {@link #restart()}.
   *
   * @param settings added to its environment, for this start only
   */
  public void restart(Map<String, String> settings) {
    agents.forget(name);
    process.restart(settings);
  }

  /**
   * Starts it again when it has ended by itself, as a supervisor would: order-consumer does not
   * start while MySQL is unavailable.
   */
  public void supervise() {
    if (!process.isAlive()) {
      restart();
    }
  }

  /** Waits until it answers; starts it again if it ends meanwhile. */
  public void awaitStarted() {
    Awaitility.await(name + " to have started")
        .atMost(ServiceProcess.START_LIMIT)
        .pollDelay(Duration.ZERO)
        .until(
            () -> {
              supervise();
              return process.answers();
            });
  }

  /** Restores the links, starts the process if it has ended, and resumes it; returns at once. */
  void heal() {
    links.heal();
    supervise();
    process.thaw();
  }

  @Override
  public void close() {
    process.close();
    links.close();
  }
}
