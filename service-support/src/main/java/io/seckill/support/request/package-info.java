/** Strict reading of what callers send: JSON bodies, lines of text, ids in paths. */
@NullMarked
package io.seckill.support.request;

import org.jspecify.annotations.NullMarked;
