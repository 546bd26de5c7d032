/**
 * The extension point through which order-consumer takes and returns money; marked for the null
 * checks of those who implement it.
 */
@NullMarked
package io.seckill.common.payment;

import org.jspecify.annotations.NullMarked;
