/** Loads sales from MySQL into Redis, and opens, pauses, resumes, closes and extends them there. */
@NullMarked
package io.seckill.gateway.preheat;

import org.jspecify.annotations.NullMarked;
