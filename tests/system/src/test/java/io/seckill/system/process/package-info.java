/** The three services as child processes of a test. */
@NullMarked
package io.seckill.system.process;

import org.jspecify.annotations.NullMarked;
