/** Checks that the documentation agrees with the code. */
@NullMarked
package io.seckill.system.docs;

import org.jspecify.annotations.NullMarked;
