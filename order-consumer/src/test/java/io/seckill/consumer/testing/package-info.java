/** The service as tests see it: started on real servers, asked over HTTP. */
@NullMarked
package io.seckill.consumer.testing;

import org.jspecify.annotations.NullMarked;
