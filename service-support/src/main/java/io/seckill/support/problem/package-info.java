/** Responses that say why a request is refused or has failed, and their JSON. */
@NullMarked
package io.seckill.support.problem;

import org.jspecify.annotations.NullMarked;
