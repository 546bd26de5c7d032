package io.seckill.gateway.web;

import io.seckill.gateway.security.DemoTokens;
import io.seckill.gateway.security.DemoTokens.DemoToken;
import io.seckill.support.web.DemoMode;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.StrictJson;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Issues tokens to the sign-in pages in demo mode; responds with 404 when demo mode is off. */
@RestController
final class DemoController {

  /** The largest number that every reader of JSON keeps exactly. */
  private static final long MAX_USER_ID = (1L << 53) - 1;

  private final DemoTokens tokens;

  /** Throws IllegalArgumentException when demo mode is on and a port is open to other machines. */
  DemoController(
      DemoTokens tokens, DemoMode demo, ServerProperties shop, AdminPortProperties admin) {
    demo.checkAddress(shop.getAddress(), "server.address");
    demo.checkAddress(admin.inetAddress(), "seckill.admin.address");
    this.tokens = tokens;
  }

  /** A request for a token; the user id is 1..2^53-1. */
  record SignIn(long userId) {

    SignIn {
      RequestChecks.integer("userId", userId, 1, MAX_USER_ID);
    }
  }

  /** The token; {@code expiresAt} in ISO-8601, UTC. */
  record Granted(String token, String expiresAt) {

    static Granted of(@Nullable DemoToken demo) {
      if (demo == null) {
        throw ProblemException.of(ProblemCode.NOT_FOUND);
      }
      Instant expiresAt = demo.expiresAt();
      return new Granted(demo.token(), expiresAt.toString());
    }
  }

  @PostMapping("/api/v1/demo/token")
  Granted shopper(@RequestBody(required = false) byte @Nullable [] body) {
    return Granted.of(
        tokens.isOn() ? tokens.shopper(StrictJson.read(body, SignIn.class).userId()) : null);
  }

  @PostMapping("/admin/v1/demo/token")
  Granted operator() {
    return Granted.of(tokens.operator());
  }
}
