package io.seckill.gateway.admin;

import static io.seckill.gateway.admin.OperatorRoute.Trait.BODY;
import static io.seckill.gateway.admin.OperatorRoute.Trait.LONG;
import static io.seckill.gateway.admin.OperatorRoute.Trait.QUERY;
import static org.springframework.web.bind.annotation.RequestMethod.GET;
import static org.springframework.web.bind.annotation.RequestMethod.POST;
import static org.springframework.web.bind.annotation.RequestMethod.PUT;

import io.seckill.support.web.PathIds;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.web.bind.annotation.RequestMethod;

/**
 * The calls of operators that are passed on to order-consumer; no others are. The path below {@code
 * /admin/v1} is also its path below {@code /internal/v1}.
 */
enum OperatorRoute {
  PRODUCT("/skus/{sku}"),
  LEDGER("/skus/{sku}/ledger"),
  RECONCILIATIONS("/skus/{sku}/reconciliation"),
  ORDER("/orders/{order}"),
  DEAD_LETTERS("/dead-letters", QUERY),
  DEAD_LETTER("/dead-letters/{id}"),
  UNEXPLAINED_CHARGES("/unexplained-charges", QUERY),
  AUDITS("/audits", QUERY),
  FALLBACK("/fallback"),
  WALLET("/wallets/{user}"),
  WALLET_ENTRIES("/wallets/{user}/entries", QUERY),
  WALLET_CHECK("/wallet/check"),
  PUT_PRODUCT(PUT, "/skus/{sku}", "put", BODY, LONG),
  PREHEAT(POST, "/skus/{sku}/preheat", "preheat", LONG),
  OPEN(POST, "/skus/{sku}/open", "open"),
  RESUME(POST, "/skus/{sku}/resume", "resume"),
  STOCK(POST, "/skus/{sku}/stock", "stock", BODY),
  RECONCILE(POST, "/skus/{sku}/reconciliation", "reconcile", BODY, LONG),
  AUDIT(POST, "/skus/{sku}/audit", "audit", LONG),
  ARCHIVE(POST, "/skus/{sku}/archive", "archive", LONG),
  RELEASE_RESERVE(POST, "/skus/{sku}/release-reserve", "release-reserve"),
  REPLAY(POST, "/dead-letters/{id}/replay", "replay"),
  DISCARD(POST, "/dead-letters/{id}/discard", "discard", BODY),
  CLOSE_CHARGE(POST, "/unexplained-charges/{id}/close", "close", BODY),
  ENTER_FALLBACK(POST, "/fallback/enter", "fallback-enter"),
  LEAVE_FALLBACK(POST, "/fallback/leave", "fallback-leave"),
  FALLBACK_SETTINGS(PUT, "/fallback/settings", "fallback-settings", BODY),
  RECHARGE(POST, "/wallets/{user}/recharges", "recharge", BODY),
  ADJUST(POST, "/wallets/{user}/adjustments", "adjust", BODY),
  WALLET_STATE(PUT, "/wallets/{user}/state", "wallet-state", BODY),
  REFUND_CHARGE(POST, "/wallet/charges/{charge}/refunds", "refund", BODY),
  CHECK_WALLETS(POST, "/wallet/check", "check-wallets", LONG);

  /** Properties of a call. */
  enum Trait {
    QUERY,
    BODY,
    /** It may load a sale, wait for orders in flight or read all wallets. */
    LONG
  }

  private final RequestMethod method;
  private final String path;
  private final String action;

  @SuppressWarnings("ImmutableEnumChecker") // of Set.of
  private final Set<Trait> traits;

  OperatorRoute(String path, Trait... traits) {
    this(GET, path, "", traits);
  }

  /** A write; {@code action} is in its audit line. */
  OperatorRoute(RequestMethod method, String path, String action, Trait... traits) {
    this.method = method;
    this.path = path;
    this.action = action;
    this.traits = Set.of(traits);
  }

  /**
   * The object of a call.
   *
   * @param path of the call, with ids
   */
  record Target(String path, String subject) {}

  /**
   * @param ids by the names in the path
   * @throws io.seckill.support.web.ProblemException 400 naming the id
   */
  Target target(Map<String, String> ids) {
    for (String name : List.of("sku", "user", "charge", "order", "id")) {
      String text = ids.get(name);
      if (text != null) {
        long id = name.equals("sku") ? PathIds.sku(text) : PathIds.number(name, text);
        return new Target(
            path.replace("{" + name + "}", Long.toString(id)), subject(name) + "=" + id);
      }
    }
    return new Target(path, path.startsWith("/wallet") ? "wallets" : "fallback");
  }

  private String subject(String name) {
    return name.equals("id")
        ? path.startsWith("/dead-letters") ? "deadLetter" : "unexplainedCharge"
        : name;
  }

  RequestMethod method() {
    return method;
  }

  String path() {
    return path;
  }

  String action() {
    return action;
  }

  boolean has(Trait trait) {
    return traits.contains(trait);
  }
}
