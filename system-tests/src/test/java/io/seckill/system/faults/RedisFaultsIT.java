package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.LoopDisk;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/** Faults of Redis itself and of what it holds. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class RedisFaultsIT {

  private static final String UNAVAILABLE = "ADMISSION_UNAVAILABLE";
  private static final int DISK_MB = 256;

  private final FaultLab lab;

  RedisFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("3: script cache gone under load")
  void forgetsItsScripts() {
    double before = errorReplies();
    try (FaultRun run = lab.run("3 script cache gone under load").begin(0)) {
      for (int flush = 1; flush <= 20; flush++) {
        run.crowd().awaitAccepted(75 * flush);
        redis(Command.SCRIPT, "FLUSH", "SYNC");
      }
      run.fault("SCRIPT FLUSH, 20 times");
      run.judge();
      assertThat(errorReplies()).as("calls that Redis refused").isEqualTo(before);
    }
  }

  private double errorReplies() {
    return lab.gateways().stream()
        .mapToDouble(
            gateway -> gateway.metrics().sum("seckill_redis_errors_total", "kind=\"reply\""))
        .sum();
  }

  @Test
  @DisplayName("4: Redis full: the gate closes, the relay drains all the same")
  void full() {
    try (FaultRun run = lab.run("4 Redis full")) {
      lab.relays().forEach(relay -> relay.links().redis().cut());
      run.begin(600);
      config("maxmemory", "1mb");
      run.crowd().awaitProblems(UNAVAILABLE, 200);
      assertThat(run.waitingInRedis()).isPositive();
      lab.relays().forEach(relay -> relay.links().redis().heal());
      Signals.await("the full Redis to be drained", () -> run.waitingInRedis() == 0);
      run.fault("maxmemory 1mb; 600 orders drained meanwhile");
      config("maxmemory", "0");
      run.judge();
    } finally {
      config("maxmemory", "0");
    }
  }

  @Test
  @DisplayName("5: Redis's disk full, with appendfsync everysec and always")
  void diskFull() throws IOException {
    RedisServer redis = lab.servers().redis();
    LoopDisk.missing(redis).ifPresent(Assumptions::abort);
    try (FaultRun run = lab.run("5 Redis's disk full")) {
      try (LoopDisk disk = LoopDisk.under(redis, DISK_MB)) {
        fillDisk(run, disk);
      }
      redis.restart();
      run.judge();
    }
  }

  private void fillDisk(FaultRun run, LoopDisk disk) throws IOException {
    RedisServer redis = lab.servers().redis();
    redis.restart();
    run.begin(200);
    config("appendfsync", "everysec");
    disk.fill();
    run.crowd().awaitProblems(UNAVAILABLE, 100);
    assertThat(redis.isRunning()).isTrue();
    run.fault("disk full with everysec: writes refused");
    disk.makeRoom();
    run.crowd().awaitAccepted(run.crowd().accepted() + 100);
    config("appendfsync", "always");
    disk.fill();
    Signals.await("Redis to give up", () -> !redis.isRunning());
    run.fault("disk full with always: Redis ended");
    disk.makeRoom();
  }

  @Test
  @DisplayName("6: Redis killed under load")
  void killed() {
    int threads = gatewayThreads();
    try (FaultRun run = lab.run("6 Redis killed").begin(500)) {
      lab.servers().redis().kill();
      run.crowd().awaitProblems(UNAVAILABLE, 200);
      run.fault("Redis killed");
      assertThat(gatewayThreads()).as("threads of the gateways").isLessThan(threads + 50);
      lab.servers().redis().restart();
      run.judge();
    }
  }

  @Test
  @DisplayName("6: Redis frozen under load")
  void frozen() {
    int threads = gatewayThreads();
    try (FaultRun run = lab.run("6 Redis frozen").begin(500)) {
      lab.servers().redis().freeze();
      run.crowd().awaitProblems(UNAVAILABLE, 200);
      run.fault("Redis frozen");
      assertThat(gatewayThreads()).as("threads of the gateways").isLessThan(threads + 50);
      lab.servers().redis().thaw();
      run.judge();
    }
  }

  @Test
  @DisplayName("6: Redis slow under load")
  void slow() {
    try (FaultRun run = lab.run("6 Redis slow").begin(500)) {
      redis(Command.CLIENT, "PAUSE", "1500", "ALL");
      run.crowd().awaitProblems(UNAVAILABLE, 50);
      run.fault("CLIENT PAUSE 1500 ALL");
      run.judge();
    }
  }

  @Test
  @DisplayName("9: a foreign key in place of the outbox")
  void foreignKey() {
    try (FaultRun run = lab.run("9 a foreign key in place of the outbox").begin(300)) {
      long sku = run.sale(3).skuId();
      String outbox = RedisKeys.outbox(Partition.ofSku(sku));
      eval(
          outbox,
          "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end"
              + " redis.call('SET', KEYS[1], 'foreign')");
      try {
        nothingIsTaken(run, sku);
        run.fault("SET on an outbox: refused before any write");
      } finally {
        eval(
            outbox,
            "redis.call('DEL', KEYS[1]) if redis.call('EXISTS', KEYS[2]) == 1"
                + " then redis.call('RENAME', KEYS[2], KEYS[1]) end");
      }
      run.judge();
    }
  }

  private void eval(String outbox, String script) {
    lab.redis().eval(script, List.of(outbox, outbox + ":saved"), List.of());
  }

  private void nothingIsTaken(FaultRun run, long sku) {
    long stock = Long.parseLong(lab.redis().get(RedisKeys.stock(sku)));
    String seq = lab.redis().hget(RedisKeys.sku(sku), "seq");
    run.crowd().awaitProblems(UNAVAILABLE, 100);
    assertThat(lab.redis().hget(RedisKeys.sku(sku), "seq")).isEqualTo(seq);
    assertThat(Long.parseLong(lab.redis().get(RedisKeys.stock(sku))))
        .as("stock, to which units may come back")
        .isGreaterThanOrEqualTo(stock);
  }

  private int gatewayThreads() {
    return lab.gateways().stream().mapToInt(ServiceInstance::threads).sum();
  }

  private void config(String name, String value) {
    lab.redis().configSet(name, value);
  }

  private void redis(Command command, String... words) {
    CommandArguments arguments = new CommandArguments(command);
    for (String word : words) {
      arguments.add(word);
    }
    lab.redis().executeCommand(arguments);
  }
}
