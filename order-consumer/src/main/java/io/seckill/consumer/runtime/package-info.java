/**
 * The base of the features: connections to MySQL, RabbitMQ and Redis, periodic tasks, and the start
 * while MySQL is unavailable.
 */
@NullMarked
package io.seckill.consumer.runtime;

import org.jspecify.annotations.NullMarked;
