/**
 * What shoppers see and do after the purchase: status, lists, events, payment, cancel; and the
 * products themselves.
 */
@NullMarked
package io.seckill.gateway.orders;

import org.jspecify.annotations.NullMarked;
