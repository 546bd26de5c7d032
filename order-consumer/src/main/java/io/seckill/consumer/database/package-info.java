/** Connection pools to MySQL, one for each kind of work, and the repetition of transactions. */
@NullMarked
package io.seckill.consumer.database;

import org.jspecify.annotations.NullMarked;
