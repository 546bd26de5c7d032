/** The promises of the pipeline as objects that judge a run by what the stores hold. */
@NullMarked
package io.seckill.system.guarantee;

import org.jspecify.annotations.NullMarked;
