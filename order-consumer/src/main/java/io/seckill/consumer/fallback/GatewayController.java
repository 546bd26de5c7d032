package io.seckill.consumer.fallback;

import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.Heartbeat;
import io.seckill.support.contract.Heartbeat.HeartbeatAnswer;
import io.seckill.support.contract.PromiseTransfer;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.util.regex.Pattern;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Heartbeats and promise transfers of gateways; with every mode, and without Redis. */
@RestController
@RequestMapping("/internal/v1/gateways/{token}")
record GatewayController(
    GatewayTable gateways, FallbackTable fallback, PromiseTransfers transfers) {

  /** More fallbacks than a restored MySQL lacks; a wrong term could never be lowered. */
  private static final long MOST_TERMS_LOST = 1_000;

  private static final Pattern TOKEN = Pattern.compile("[0-9a-f]{32}");

  /**
   * The term is read after the gateway is registered: the next one then waits for it. A gateway
   * that was removed, or whose transfer MySQL has lost, sees that in the answer.
   */
  @PutMapping
  HeartbeatAnswer heard(@PathVariable String token, @JsonBody Heartbeat heartbeat) {
    String gateway = checked(token);
    RequestChecks.integer("term", heartbeat.term(), 0, fallback.read().term() + MOST_TERMS_LOST);
    gateways.heard(gateway, heartbeat);
    FallbackTable.Row now = fallback.read();
    if (now.term() < heartbeat.term()) {
      fallback.raise(heartbeat.term());
      now = fallback.read();
    }
    return new HeartbeatAnswer(
        now.term(), now.failurePercent(), now.failuresPerSecond(), gateways.transferred(gateway));
  }

  @PostMapping("/handover")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void transfer(@PathVariable String token, @JsonBody PromiseTransfer transfer) {
    transfers.take(checked(token), transfer);
  }

  /** A gateway that stops has transferred everything that it promised. */
  @DeleteMapping
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void end(@PathVariable String token) {
    gateways.forget(checked(token));
  }

  private static String checked(String token) {
    if (!TOKEN.matcher(token).matches()) {
      throw ProblemException.invalid("token", "token must be 32 hexadecimal digits.");
    }
    return token;
  }
}
