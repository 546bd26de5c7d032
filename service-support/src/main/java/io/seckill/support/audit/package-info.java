/** The audit log of what operators change. */
@NullMarked
package io.seckill.support.audit;

import org.jspecify.annotations.NullMarked;
