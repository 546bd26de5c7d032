package io.seckill.gateway.web;

import io.seckill.gateway.security.DemoTokens;
import io.seckill.gateway.security.DemoTokens.DemoToken;
import io.seckill.support.web.DemoMode;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.StrictJson;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.http.HttpHeaders;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/**
 * Issues tokens to the sign-in pages in demo mode; responds with 404 when demo mode is off. Unless
 * it is exposed, a request must name this machine as its host: the page of another host can reach a
 * loopback port by giving its own name the address 127.0.0.1.
 */
@RestController
final class DemoController {

  /** The largest number that every reader of JSON keeps exactly. */
  private static final long MAX_USER_ID = (1L << 53) - 1;

  private static final Pattern THIS_MACHINE =
      Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d*)?", Pattern.CASE_INSENSITIVE);

  private final DemoTokens tokens;
  private final DemoMode demo;

  /** Throws IllegalArgumentException when demo mode is on and a port is open to other machines. */
  DemoController(
      DemoTokens tokens, DemoMode demo, ServerProperties shop, AdminPortProperties admin) {
    demo.checkAddress(shop.getAddress(), "server.address");
    demo.checkAddress(admin.inetAddress(), "seckill.admin.address");
    this.tokens = tokens;
    this.demo = demo;
  }

  /** A request for a token; the user id is 1..2^53-1. */
  record SignIn(long userId) {

    SignIn {
      RequestChecks.integer("userId", userId, 1, MAX_USER_ID);
    }
  }

  @PostMapping("/api/v1/demo/token")
  DemoToken shopper(
      @RequestHeader(name = HttpHeaders.HOST, required = false) @Nullable String host,
      @RequestBody(required = false) byte @Nullable [] body) {
    return granted(
        issues(demo, host) ? tokens.shopper(StrictJson.read(body, SignIn.class).userId()) : null);
  }

  @PostMapping("/admin/v1/demo/token")
  DemoToken operator(
      @RequestHeader(name = HttpHeaders.HOST, required = false) @Nullable String host) {
    return granted(issues(demo, host) ? tokens.operator() : null);
  }

  private static DemoToken granted(@Nullable DemoToken token) {
    if (token == null) {
      throw ProblemException.of(ProblemCode.NOT_FOUND);
    }
    return token;
  }

  /**
   * Whether a request gets a token.
   *
   * @param host with or without a port; null for none
   */
  static boolean issues(DemoMode demo, @Nullable String host) {
    return demo.enabled()
        && (demo.exposed() || (host != null && THIS_MACHINE.matcher(host).matches()));
  }
}
