/** An order as the services exchange it: its id, message, admission record and status. */
@NullMarked
package io.seckill.common.order;

import org.jspecify.annotations.NullMarked;
