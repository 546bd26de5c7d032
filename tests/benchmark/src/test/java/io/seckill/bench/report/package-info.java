/** Measured values: samples, ratios, and the three formats of the report. */
@NullMarked
package io.seckill.bench.report;

import org.jspecify.annotations.NullMarked;
