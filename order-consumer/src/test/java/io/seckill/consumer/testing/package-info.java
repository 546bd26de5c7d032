/** The service as tests use it: started on real servers and called over HTTP. */
@NullMarked
package io.seckill.consumer.testing;

import org.jspecify.annotations.NullMarked;
