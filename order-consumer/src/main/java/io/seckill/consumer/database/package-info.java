/** Connection pools to MySQL, one for each kind of work. */
@NullMarked
package io.seckill.consumer.database;

import org.jspecify.annotations.NullMarked;
