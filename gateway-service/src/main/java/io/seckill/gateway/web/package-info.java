/**
 * How the gateway speaks HTTP: two ports, who may call what, errors as problems, bounds on what is
 * read. The purchase path has its own, thinner way.
 */
@NullMarked
package io.seckill.gateway.web;

import org.jspecify.annotations.NullMarked;
