/** Sends concurrent requests to a server in batches, and answers each of them in time. */
@NullMarked
package io.seckill.gateway.batching;

import org.jspecify.annotations.NullMarked;
