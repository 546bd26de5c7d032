/**
 * Loads a sale from MySQL into Redis: the gateway does so at a preheat, order-consumer at a rebuild
 * after a loss of data.
 */
@NullMarked
package io.seckill.common.sale;

import org.jspecify.annotations.NullMarked;
