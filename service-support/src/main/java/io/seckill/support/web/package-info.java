/**
 * Requests to the services and between them: strict reading, problem answers, the internal token,
 * and the audit log.
 */
@NullMarked
package io.seckill.support.web;

import org.jspecify.annotations.NullMarked;
