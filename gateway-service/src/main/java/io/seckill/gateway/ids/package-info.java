/** Makes order ids that no other gateway makes, with worker numbers leased from Redis. */
@NullMarked
package io.seckill.gateway.ids;

import org.jspecify.annotations.NullMarked;
