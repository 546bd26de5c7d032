/** The whole pipeline as processes: end to end, under faults, under load. */
@NullMarked
package io.seckill.system;

import org.jspecify.annotations.NullMarked;
