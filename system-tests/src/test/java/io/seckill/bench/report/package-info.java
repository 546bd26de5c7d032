/** What was measured: samples, ratios, and the three forms of the report. */
@NullMarked
package io.seckill.bench.report;

import org.jspecify.annotations.NullMarked;
