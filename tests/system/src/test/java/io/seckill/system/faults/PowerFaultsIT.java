package io.seckill.system.faults;

import io.seckill.testing.LoopDisk;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.TestServer;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Power loss: data that a server had not synced is lost. {@code PowerLossIT} of common shows that
 * the simulated power loss discards unsynced data, and that weaker settings than the shipped ones
 * lose acknowledged writes.
 */
@Tag("proof")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class PowerFaultsIT {

  private static final int DISK_MB = 2_048;

  private final FaultLab lab;

  PowerFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("36: RabbitMQ loses its power with confirmed orders in its queues")
  void rabbit() {
    RabbitServer rabbit = lab.servers().rabbit();
    lab.consumers().forEach(consumer -> consumer.links().rabbit().cut());
    try (FaultRun run = lab.run("36 RabbitMQ loses its power");
        LoopDisk disk = diskUnder(rabbit)) {
      rabbit.restart();
      run.begin(800);
      Signals.await("orders to lie in the broker", () -> run.ordersInBroker() > 500);
      disk.losePower();
      run.fault("power of RabbitMQ lost");
      rabbit.restart();
      run.judge();
    }
  }

  /** No process notices the end of another: all are frozen first, and then killed. */
  @Test
  @DisplayName("36: the machine of all servers and services loses its power under load")
  void everything() {
    LabServers servers = lab.servers();
    try (FaultRun run = lab.run("36 everything loses its power");
        LoopDisk redisDisk = diskUnder(servers.redis());
        LoopDisk rabbitDisk = diskUnder(servers.rabbit());
        LoopDisk mysqlDisk = diskUnder(servers.mysql())) {
      servers.heal();
      run.begin(1_200);
      lab.all().forEach(ServiceInstance::freeze);
      servers.freeze();
      redisDisk.losePower();
      rabbitDisk.losePower();
      mysqlDisk.losePower();
      lab.all().forEach(ServiceInstance::kill);
      run.fault("power of all servers and services lost");
      servers.heal();
      run.judge();
    }
  }

  private static LoopDisk diskUnder(TestServer server) {
    LoopDisk.missing(server).ifPresent(Assumptions::abort);
    return LoopDisk.under(server, DISK_MB);
  }
}
