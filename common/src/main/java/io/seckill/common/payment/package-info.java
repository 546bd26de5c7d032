/** The extension point through which order-consumer takes and returns money. */
@NullMarked
package io.seckill.common.payment;

import org.jspecify.annotations.NullMarked;
