/** One class a stage of the pipeline; each measures it, its ceiling and its baseline. */
@NullMarked
package io.seckill.bench.stage;

import org.jspecify.annotations.NullMarked;
