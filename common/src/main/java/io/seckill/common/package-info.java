/** What the three services share: message, key names, ids, topology. No Spring. */
@NullMarked
package io.seckill.common;

import org.jspecify.annotations.NullMarked;
