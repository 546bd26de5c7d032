package io.seckill.system.agent;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.system.process.Service;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A failpoint whose class or method does not exist is an error, never silently ignored. */
class FaultAgentIT {

  @Test
  void refusesAPointInAMethodThatDoesNotExist() {
    refuses("io.seckill.relay.lane.RelayLane", "renamed", "no method renamed");
  }

  @Test
  void refusesAPointInAClassThatDoesNotExist() {
    refuses("io.seckill.relay.lane.Renamed", "run", "no class io.seckill.relay.lane.Renamed");
  }

  private static void refuses(String className, String method, String because) {
    try (AgentServer agents = new AgentServer()) {
      assertThatThrownBy(
              () ->
                  agents.expect(
                      Service.RELAY,
                      "relay",
                      List.of(Advised.before("somewhere", className, method))))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(because);
    }
  }
}
