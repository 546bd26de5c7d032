/**
 * The records of order-consumer's internal port, which gateways call: requests check their bounds
 * themselves, and are refused with 400 naming the member.
 */
@NullMarked
package io.seckill.support.contract;

import org.jspecify.annotations.NullMarked;
