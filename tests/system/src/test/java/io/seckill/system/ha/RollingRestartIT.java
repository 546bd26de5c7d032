package io.seckill.system.ha;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.ServiceInstance;
import io.seckill.testing.TestServers;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A new release, rolled out under load. */
@OnChannel(durableIn = "replicas")
@Tag("proof")
@ExtendWith({TestServers.class, SentinelLab.Extension.class})
class RollingRestartIT {

  private static final int SIGTERM = 143;

  private final SentinelLab lab;

  RollingRestartIT(SentinelLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("60: all services restarted one after the other")
  void allServices() {
    try (FaultRun run = lab.run("60 rolling restart", 12_000, Duration.ofMinutes(2)).begin(300)) {
      for (ServiceInstance service : lab.all()) {
        service.stop();
        assertThat(service.exitCode()).as("exit code of %s", service.name()).isEqualTo(SIGTERM);
        service.restart();
        service.awaitReady();
        run.fault(service.name() + " restarted");
        run.load().awaitAccepted(run.load().accepted() + 50);
      }
      run.judge();
    }
  }
}
