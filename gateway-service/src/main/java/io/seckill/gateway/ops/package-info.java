/** What operators watch: the stream for the operations page, relay lanes, metrics and health. */
@NullMarked
package io.seckill.gateway.ops;

import org.jspecify.annotations.NullMarked;
