/** What a benchmark runs on: own servers as shipped, the services, sales and made-up orders. */
@NullMarked
package io.seckill.bench.lab;

import org.jspecify.annotations.NullMarked;
