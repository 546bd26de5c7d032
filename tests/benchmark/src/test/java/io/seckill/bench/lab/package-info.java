/**
 * The environment of a benchmark: own servers as shipped, the services, sales and generated orders.
 */
@NullMarked
package io.seckill.bench.lab;

import org.jspecify.annotations.NullMarked;
