/** The internal port: who may call it, how requests are read, and how they are refused. */
@NullMarked
package io.seckill.consumer.web;

import org.jspecify.annotations.NullMarked;
