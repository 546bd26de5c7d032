/** Lets purchases wait for units that are in other shards of their SKU. */
@NullMarked
package io.seckill.gateway.shards;

import org.jspecify.annotations.NullMarked;
