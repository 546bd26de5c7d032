/**
 * Real Redis, RabbitMQ and MySQL servers for tests, with faults on demand. Start with {@link
 * io.seckill.testing.TestServers}.
 */
@NullMarked
package io.seckill.testing;

import org.jspecify.annotations.NullMarked;
