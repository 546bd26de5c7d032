/** One class per stage of the pipeline; each measures the stage, its ceiling and its baseline. */
@NullMarked
package io.seckill.bench.stage;

import org.jspecify.annotations.NullMarked;
