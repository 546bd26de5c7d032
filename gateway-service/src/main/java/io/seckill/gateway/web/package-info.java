/**
 * HTTP on two ports: authorization, errors as problems, limits on what is read, pages, and the thin
 * answers of the purchase path.
 */
@NullMarked
package io.seckill.gateway.web;

import org.jspecify.annotations.NullMarked;
