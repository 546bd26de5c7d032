/** What operators watch: metrics, alert rules, dashboards, traces. */
@NullMarked
package io.seckill.system.observability;

import org.jspecify.annotations.NullMarked;
