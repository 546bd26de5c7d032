/** The judgement over a whole run of {@code scripts/test}. */
@NullMarked
package io.seckill.testing.suite;

import org.jspecify.annotations.NullMarked;
