/** Connections to RabbitMQ, opened anew after every failure instead of recovered. */
@NullMarked
package io.seckill.consumer.broker;

import org.jspecify.annotations.NullMarked;
