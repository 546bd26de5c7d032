/** Lets gateways have purchases of strong sales decided, on the internal port. */
@NullMarked
package io.seckill.consumer.strong;

import org.jspecify.annotations.NullMarked;
