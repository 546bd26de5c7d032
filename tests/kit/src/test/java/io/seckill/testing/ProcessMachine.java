package io.seckill.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A server as a child process, on free ports of 127.0.0.1 and in its own directory. */
final class ProcessMachine implements Machine {

  private final ServerProgram program;
  private final Ports ports;
  private final Path home;
  private @Nullable ChildProcess process;

  ProcessMachine(ServerProgram program) {
    this.program = program;
    this.ports = Ports.free(program.servicePorts());
    this.home = RunDirectory.newHome(program.name());
  }

  @Override
  public String host() {
    return "127.0.0.1";
  }

  @Override
  public int port(int servicePort) {
    return ports.of(servicePort);
  }

  @Override
  public Optional<Path> dataFolder() {
    return Optional.of(home.resolve("data"));
  }

  @Override
  public synchronized void launch() {
    if (isRunning()) {
      return;
    }
    ServerFiles.createDirectories(home.resolve("data"));
    program.prepare(home, ports);
    process = ChildProcess.start(home, program.command(home), environment());
  }

  @Override
  public synchronized boolean isRunning() {
    return process != null && process.isAlive();
  }

  @Override
  public synchronized void kill() {
    if (process != null) {
      process.kill();
    }
  }

  @Override
  public synchronized void stop() {
    if (process != null) {
      process.stop();
    }
  }

  @Override
  public synchronized void freeze() {
    if (process != null) {
      process.freeze();
    }
  }

  @Override
  public synchronized void thaw() {
    if (process != null) {
      process.thaw();
    }
  }

  @Override
  public synchronized boolean isFrozen() {
    return process != null && process.isFrozen();
  }

  @Override
  public synchronized void wipe() {
    kill();
    ServerFiles.deleteTree(home.resolve("data"));
  }

  /** Finds the tool like the server program, which avoids Debian's wrappers for RabbitMQ. */
  @Override
  public String run(List<String> command) {
    List<String> resolved = new ArrayList<>(command);
    resolved.set(0, Programs.find(command.get(0), program.name() + "-server"));
    return Commands.run(resolved, environment());
  }

  @Override
  public String logTail() {
    return ServerFiles.tail(home.resolve("log"));
  }

  @Override
  public synchronized void close() {
    kill();
    ServerFiles.deleteTree(home);
  }

  private Map<String, String> environment() {
    return program.environment(home, ports);
  }
}
