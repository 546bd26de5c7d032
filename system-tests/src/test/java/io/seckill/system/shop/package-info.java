/** What shoppers and operators send, over HTTP. */
@NullMarked
package io.seckill.system.shop;

import org.jspecify.annotations.NullMarked;
