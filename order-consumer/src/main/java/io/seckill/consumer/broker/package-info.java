/** Connections to RabbitMQ; after a failure a new connection is opened instead of recovery. */
@NullMarked
package io.seckill.consumer.broker;

import org.jspecify.annotations.NullMarked;
