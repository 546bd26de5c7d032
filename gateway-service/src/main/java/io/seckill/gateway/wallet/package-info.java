/** Shows shoppers their own wallets. */
@NullMarked
package io.seckill.gateway.wallet;

import org.jspecify.annotations.NullMarked;
