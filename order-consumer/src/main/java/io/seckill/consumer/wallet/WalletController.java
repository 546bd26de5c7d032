package io.seckill.consumer.wallet;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.wallet.WalletCheck.WalletCheckReport;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletBalance.WalletStateRequest;
import io.seckill.support.contract.WalletEntries;
import io.seckill.support.contract.WalletEntries.WalletStatement;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOperations;
import io.seckill.support.contract.WalletOperations.WalletOutcomes;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Wallets on the internal port: operations of services and operators, and what owners see. */
@RestController
@RequestMapping("/internal/v1")
record WalletController(
    Wallets wallets, WalletAccounts accounts, WalletCheck check, AuditLog audit) {

  private static final String KEY = "Idempotency-Key";
  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  @PostMapping("/wallet/operations")
  WalletOutcomes execute(@JsonBody WalletOperations body) {
    return new WalletOutcomes(wallets.execute(body.operations()));
  }

  @GetMapping("/wallets/{user}")
  WalletBalance balance(@PathVariable String user) {
    return accounts.balance(PathIds.number("user", user));
  }

  /** Newest first. */
  @GetMapping("/wallets/{user}/entries")
  WalletEntries entries(
      @PathVariable String user,
      @RequestParam(required = false) @Nullable String before,
      @RequestParam(required = false) @Nullable String limit) {
    return accounts.newestFirst(
        PathIds.number("user", user),
        before == null ? Long.MAX_VALUE : PathIds.number("before", before),
        PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT));
  }

  /**
   * A page of the days from..to of UTC, both included; {@code after} is next of the page before.
   */
  @GetMapping("/wallets/{user}/statement")
  WalletStatement statement(
      @PathVariable String user,
      @RequestParam(required = false) @Nullable String from,
      @RequestParam(required = false) @Nullable String to,
      @RequestParam(required = false) @Nullable String after) {
    return accounts.statement(
        PathIds.number("user", user),
        PathIds.day("from", from),
        PathIds.day("to", to),
        after == null ? null : PathIds.number("after", after));
  }

  /**
   * The body of an operator's operation; {@link WalletOperation} checks it.
   *
   * @param amountCents negative only for an adjustment
   */
  record Amount(long amountCents, @Nullable String reason) {}

  @PostMapping("/wallets/{user}/{kind:recharges|adjustments}")
  ResponseEntity<WalletOutcome> recharge(
      @PathVariable String user,
      @PathVariable String kind,
      @RequestHeader(name = KEY, required = false) @Nullable String key,
      Operator operator,
      @JsonBody Amount body) {
    WalletKind of = kind.equals("recharges") ? WalletKind.RECHARGE : WalletKind.ADJUST;
    return execute(PathIds.number("user", user), of, null, key, operator, body);
  }

  /** The refund goes to the user who was charged. */
  @PostMapping("/wallet/charges/{id}/refunds")
  ResponseEntity<WalletOutcome> refund(
      @PathVariable String id,
      @RequestHeader(name = KEY, required = false) @Nullable String key,
      Operator operator,
      @JsonBody Amount body) {
    long charge = PathIds.number("id", id);
    long user =
        accounts
            .find(charge)
            .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_CHARGE))
            .userId();
    return execute(user, WalletKind.REFUND, charge, key, operator, body);
  }

  /** 201 when done, 200 when repeated. */
  private ResponseEntity<WalletOutcome> execute(
      long user,
      WalletKind kind,
      @Nullable Long charge,
      @Nullable String key,
      Operator operator,
      Amount body) {
    if (key == null || !OrderMessage.REQUEST_ID.matcher(key).matches()) {
      throw ProblemException.invalid(KEY, KEY + " must be 8..64 characters of [A-Za-z0-9_-].");
    }
    WalletOperation operation =
        new WalletOperation(user, kind, key, body.amountCents(), charge, body.reason());
    return audit.audited(
        operator,
        "wallet-" + kind.name().toLowerCase(Locale.ROOT),
        (charge == null ? "" : "charge=" + charge + " ")
            + "user=%d key=%s amount=%d".formatted(user, key, body.amountCents()),
        () -> {
          WalletOutcome outcome = wallets.execute(operation);
          HttpStatus status = outcome.doneNow() ? HttpStatus.CREATED : HttpStatus.OK;
          return ResponseEntity.status(status).body(outcome);
        },
        answer -> "status=" + answer.getStatusCode().value());
  }

  @PutMapping("/wallets/{user}/state")
  WalletBalance state(
      @PathVariable String user, Operator operator, @JsonBody WalletStateRequest body) {
    long userId = PathIds.number("user", user);
    return audit.audited(
        operator,
        "wallet-state",
        "user=" + userId,
        () -> accounts.setState(userId, WalletState.valueOf(body.state())),
        now -> "state=" + now.state());
  }

  @GetMapping("/wallet/check")
  WalletCheckReport latestCheck() {
    return check
        .latest()
        .orElseThrow(() -> ProblemException.of(ProblemCode.NOT_FOUND, "No check was made yet."));
  }

  @PostMapping("/wallet/check")
  WalletCheckReport check(Operator operator) {
    return audit.audited(
        operator,
        "wallet-check",
        "wallets",
        check::checkWhole,
        made -> "differences=" + made.differences());
  }
}
