/**
 * Real Redis, RabbitMQ and MySQL for tests, with faults on demand. {@link
 * io.seckill.testing.TestServers} is the way in.
 */
@NullMarked
package io.seckill.testing;

import org.jspecify.annotations.NullMarked;
