/** Every SQL statement of the services, with the plan that MySQL must have for it. */
@NullMarked
package io.seckill.system.statements;

import org.jspecify.annotations.NullMarked;
