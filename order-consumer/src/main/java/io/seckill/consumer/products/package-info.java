/** What is for sale: creates and edits products, and reads their rows. */
@NullMarked
package io.seckill.consumer.products;

import org.jspecify.annotations.NullMarked;
