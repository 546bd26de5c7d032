/** Log lines of failures that repeat. */
@NullMarked
package io.seckill.support.logging;

import org.jspecify.annotations.NullMarked;
