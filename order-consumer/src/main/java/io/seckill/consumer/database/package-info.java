/** Pools of connections to MySQL, each for one kind of work. */
@NullMarked
package io.seckill.consumer.database;

import org.jspecify.annotations.NullMarked;
