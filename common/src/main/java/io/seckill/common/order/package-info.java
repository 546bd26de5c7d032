/**
 * The order as every service knows it: id, message, status and the admission record kept in Redis.
 */
@NullMarked
package io.seckill.common.order;

import org.jspecify.annotations.NullMarked;
