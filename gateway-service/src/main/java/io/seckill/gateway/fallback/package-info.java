/**
 * Keeps a gateway from promising orders of sales that MySQL decides, and transfers its promises.
 */
@NullMarked
package io.seckill.gateway.fallback;

import org.jspecify.annotations.NullMarked;
