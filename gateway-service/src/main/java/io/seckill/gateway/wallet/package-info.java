/** What a shopper sees of the own wallet. */
@NullMarked
package io.seckill.gateway.wallet;

import org.jspecify.annotations.NullMarked;
