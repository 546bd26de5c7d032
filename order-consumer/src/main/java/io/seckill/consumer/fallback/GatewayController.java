package io.seckill.consumer.fallback;

import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Heartbeats of gateways, and what they hand over; with every mode, and without Redis. */
@RestController
@RequestMapping("/internal/v1/gateways/{token}")
class GatewayController {

  private static final Pattern TOKEN = Pattern.compile("[0-9a-f]{32}");

  private final GatewayTable gateways;
  private final Handovers handovers;

  GatewayController(GatewayTable gateways, Handovers handovers) {
    this.gateways = gateways;
    this.handovers = handovers;
  }

  /** The answer to a heartbeat. */
  record Beat(
      FallbackState state,
      long term,
      int failurePercent,
      int failuresPerSecond,
      List<GatewayNode> gateways) {

    static Beat of(Overview now) {
      FallbackTable.Row row = now.fallback();
      return new Beat(
          row.state(),
          row.term(),
          row.failurePercent(),
          row.failuresPerSecond(),
          now.gateways().all());
    }
  }

  /** The state is read after the gateway is registered: the next term then waits for it. */
  @PutMapping
  Beat heard(@PathVariable String token, @JsonBody Heartbeat heartbeat) {
    gateways.heard(checked(token), heartbeat);
    return Beat.of(gateways.overview());
  }

  @PostMapping("/handover")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void handOver(@PathVariable String token, @JsonBody Handover handover) {
    handovers.take(checked(token), handover);
  }

  private static String checked(String token) {
    if (!TOKEN.matcher(token).matches()) {
      throw ProblemException.invalid("token", "token must be 32 hexadecimal digits.");
    }
    return token;
  }
}
