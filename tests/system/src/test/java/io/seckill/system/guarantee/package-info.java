/** The guarantees of the pipeline, as objects that check the contents of the stores after a run. */
@NullMarked
package io.seckill.system.guarantee;

import org.jspecify.annotations.NullMarked;
