package io.seckill.consumer.wallet;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.wallet.WalletCheck.WalletCheckReport;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletBalance.WalletStateRequest;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Operators' calls about wallets on the internal port. 201 when done, 200 when repeated. */
@RestController
@RequestMapping("/internal/v1")
class WalletAdminController {

  private static final String KEY = "Idempotency-Key";

  private final Wallets wallets;
  private final WalletAccounts accounts;
  private final WalletCheck check;
  private final AuditLog audit;

  WalletAdminController(
      Wallets wallets, WalletAccounts accounts, WalletCheck check, AuditLog audit) {
    this.wallets = wallets;
    this.accounts = accounts;
    this.check = check;
    this.audit = audit;
  }

  /**
   * The body of all three; {@link WalletOperation} checks it.
   *
   * @param amountCents negative only for an adjustment
   */
  record Amount(long amountCents, @Nullable String reason) {}

  @PostMapping("/wallets/{user}/recharges")
  ResponseEntity<WalletOutcome> recharge(
      @PathVariable String user,
      @RequestHeader(name = KEY, required = false) @Nullable String key,
      Operator operator,
      @JsonBody Amount body) {
    return ofUser("wallet-recharge", user, WalletKind.RECHARGE, key, operator, body);
  }

  @PostMapping("/wallets/{user}/adjustments")
  ResponseEntity<WalletOutcome> adjust(
      @PathVariable String user,
      @RequestHeader(name = KEY, required = false) @Nullable String key,
      Operator operator,
      @JsonBody Amount body) {
    return ofUser("wallet-adjust", user, WalletKind.ADJUST, key, operator, body);
  }

  private ResponseEntity<WalletOutcome> ofUser(
      String action,
      String user,
      WalletKind kind,
      @Nullable String key,
      Operator operator,
      Amount body) {
    long userId = PathIds.number("user", user);
    return execute(
        action,
        "user=" + userId,
        operator,
        new WalletOperation(userId, kind, key(key), body.amountCents(), null, body.reason()));
  }

  /** The refund goes to the user who was charged. */
  @PostMapping("/wallet/charges/{id}/refunds")
  ResponseEntity<WalletOutcome> refund(
      @PathVariable String id,
      @RequestHeader(name = KEY, required = false) @Nullable String key,
      Operator operator,
      @JsonBody Amount body) {
    long chargeId = PathIds.number("id", id);
    long userId = accounts.charge(chargeId).userId();
    return execute(
        "wallet-refund",
        "charge=" + chargeId + " user=" + userId,
        operator,
        new WalletOperation(
            userId, WalletKind.REFUND, key(key), body.amountCents(), chargeId, body.reason()));
  }

  private ResponseEntity<WalletOutcome> execute(
      String action, String subject, Operator operator, WalletOperation operation) {
    return audit.audited(
        operator,
        action,
        subject + " key=" + operation.requestId() + " amount=" + operation.amountCents(),
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
    WalletState state = WalletState.valueOf(body.state());
    return audit.audited(
        operator,
        "wallet-state",
        "user=" + userId,
        () -> accounts.setState(userId, state),
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

  private static String key(@Nullable String key) {
    if (key == null || !OrderMessage.REQUEST_ID.matcher(key).matches()) {
      throw ProblemException.invalid(KEY, KEY + " must be 8..64 characters of [A-Za-z0-9_-].");
    }
    return key;
  }
}
