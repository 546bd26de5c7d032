/** The address of RabbitMQ. */
@NullMarked
package io.seckill.support.broker;

import org.jspecify.annotations.NullMarked;
