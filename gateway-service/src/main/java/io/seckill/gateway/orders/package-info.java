/** Serves shoppers after the purchase: status, lists, events, payment and cancel. */
@NullMarked
package io.seckill.gateway.orders;

import org.jspecify.annotations.NullMarked;
