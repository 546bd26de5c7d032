package io.seckill.testing;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Servers as child processes of this JVM, from the packages of the system. */
final class ProcessBackend implements Backend {

  /** A missing package is a failure of the test, not a reason to skip it. */
  @Override
  public Optional<String> missing() {
    return Optional.empty();
  }

  @Override
  public Machine redis(List<String> lines) {
    return new ProcessMachine(new RedisProcess(lines));
  }

  @Override
  public Machine rabbit(List<String> lines) {
    return new ProcessMachine(
        new RabbitProcess(RabbitProcess.newNode(), UUID.randomUUID().toString(), lines));
  }

  @Override
  public Machine mysql(List<String> lines) {
    return new ProcessMachine(new MariaDbProcess(() -> lines));
  }
}
