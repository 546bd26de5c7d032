package io.seckill.consumer.wallet;

import static io.seckill.common.settings.SettingChecks.check;

import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletEntries;
import io.seckill.support.contract.WalletEntryRow;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.web.DemoMode;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;

/** Shows wallets and freezes them; in demo mode gives new users money to spend. */
@Component
class WalletAccounts {

  /** No caller can use this key. */
  private static final String DEMO_KEY = "demo:balance";

  private static final long DEMO_CENTS = 10_000_000;

  private final JdbcOperations jdbc;
  private final Wallets wallets;
  private final WalletProperties properties;
  private final boolean isDemo;

  WalletAccounts(
      JdbcOperations jdbc,
      Wallets wallets,
      WalletProperties properties,
      DemoMode demo,
      Environment environment,
      ServerProperties server) {
    this.jdbc = jdbc;
    this.wallets = wallets;
    this.properties = properties;
    this.isDemo = demo.enabled();
    if (isDemo) {
      check(
          !environment.matchesProfiles("prod", "production"),
          "seckill.demo.enabled gives money to everybody, not under a production profile");
      demo.checkAddress(server.getAddress(), "server.address");
    }
  }

  /** The balance as it is shown to its owner, who in demo mode may get one by it. */
  WalletBalance balance(long userId) {
    begin(List.of(userId));
    WalletRow row =
        WalletTable.find(jdbc, List.of(userId)).getOrDefault(userId, WalletRow.none(userId));
    return new WalletBalance(
        userId, row.balanceCents(), properties.currency(), row.state(), row.seq());
  }

  /** In demo mode, gives the users without a wallet one with money. */
  void begin(Collection<Long> users) {
    if (isDemo) {
      Map<Long, WalletRow> known = WalletTable.find(jdbc, users);
      List<WalletOperation> gifts =
          new TreeSet<>(users)
              .stream()
                  .filter(user -> !known.containsKey(user))
                  .map(
                      user ->
                          new WalletOperation(
                              user, WalletKind.RECHARGE, DEMO_KEY, DEMO_CENTS, null, "demo"))
                  .toList();
      if (!gifts.isEmpty()) {
        wallets.execute(gifts);
      }
    }
  }

  /**
   * @param before number of an entry; older ones are returned
   */
  WalletEntries newestFirst(long userId, long before, int limit) {
    List<WalletEntryRow> page = WalletTable.before(jdbc, userId, before, limit);
    return page(page, limit);
  }

  private static WalletEntries page(List<WalletEntryRow> page, int limit) {
    return new WalletEntries(page, page.size() == limit ? page.get(limit - 1).seq() : null);
  }

  WalletBalance setState(long userId, WalletState state) {
    wallets.within(
        transaction -> {
          WalletTable.create(transaction, List.of(userId));
          WalletTable.setState(transaction, userId, state);
          return state;
        });
    return balance(userId);
  }

  /**
   * @throws ProblemException 404 UNKNOWN_CHARGE, also when it was closed before it was made
   */
  ChargeRow charge(long chargeId) {
    return find(chargeId)
        .filter(charge -> charge.amountCents() > 0)
        .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_CHARGE));
  }

  Optional<ChargeRow> find(long chargeId) {
    return Optional.ofNullable(WalletTable.charges(jdbc, List.of(chargeId)).get(chargeId));
  }
}
