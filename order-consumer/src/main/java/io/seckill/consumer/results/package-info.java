/** Tells Redis what MySQL has decided, for status and position. */
@NullMarked
package io.seckill.consumer.results;

import org.jspecify.annotations.NullMarked;
