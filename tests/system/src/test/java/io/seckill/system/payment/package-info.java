/** Payment providers that are installed beside order-consumer's jar. */
@NullMarked
package io.seckill.system.payment;

import org.jspecify.annotations.NullMarked;
