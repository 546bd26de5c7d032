/** The documentation, held to what the code says. */
@NullMarked
package io.seckill.system.docs;

import org.jspecify.annotations.NullMarked;
