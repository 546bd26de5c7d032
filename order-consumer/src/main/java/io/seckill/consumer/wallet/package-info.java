/**
 * Wallets: balances that pay for orders. MySQL decides operations in batches, each in one
 * transaction (docs/adr/0027-wallets.md).
 */
@NullMarked
package io.seckill.consumer.wallet;

import org.jspecify.annotations.NullMarked;
