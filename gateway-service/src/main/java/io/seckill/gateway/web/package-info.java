/**
 * The gateway's HTTP layer: two ports, authorization, errors as problems, limits on what is read.
 * The purchase path has its own, thinner implementation.
 */
@NullMarked
package io.seckill.gateway.web;

import org.jspecify.annotations.NullMarked;
