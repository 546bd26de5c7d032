package io.seckill.consumer.wallet;

import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletEntries;
import io.seckill.support.contract.WalletOperations;
import io.seckill.support.contract.WalletOutcomes;
import io.seckill.support.web.PathIds;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Wallets on the internal port: operations of services, and what owners see. */
@RestController
@RequestMapping("/internal/v1")
class WalletController {

  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  private final Wallets wallets;
  private final WalletAccounts accounts;

  WalletController(Wallets wallets, WalletAccounts accounts) {
    this.wallets = wallets;
    this.accounts = accounts;
  }

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
}
