/** This gateway's way to Redis: settings, client, and requests that go there together. */
@NullMarked
package io.seckill.gateway.redis;

import org.jspecify.annotations.NullMarked;
