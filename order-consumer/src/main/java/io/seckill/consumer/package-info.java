/** Stores orders in MySQL, the system of record, and manages their lifecycle afterwards. */
@NullMarked
package io.seckill.consumer;

import org.jspecify.annotations.NullMarked;
