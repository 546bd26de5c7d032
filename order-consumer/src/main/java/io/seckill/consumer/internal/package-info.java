/**
 * The internal port: who may call it, how request bodies are read and how requests are refused.
 * Features add their own controllers; this package depends on none of them.
 */
@NullMarked
package io.seckill.consumer.internal;

import org.jspecify.annotations.NullMarked;
