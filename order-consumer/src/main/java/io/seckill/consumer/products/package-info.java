/** Products: creates and edits them, and reads their rows. */
@NullMarked
package io.seckill.consumer.products;

import org.jspecify.annotations.NullMarked;
