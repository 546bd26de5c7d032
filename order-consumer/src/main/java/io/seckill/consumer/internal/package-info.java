/**
 * The internal port: who may call it, how its bodies are read and how it says no. Features add
 * their own controllers; this package knows none of them.
 */
@NullMarked
package io.seckill.consumer.internal;

import org.jspecify.annotations.NullMarked;
