/** Decides purchases: the HTTP route, the script or the call of order-consumer, the answers. */
@NullMarked
package io.seckill.gateway.admission;

import org.jspecify.annotations.NullMarked;
