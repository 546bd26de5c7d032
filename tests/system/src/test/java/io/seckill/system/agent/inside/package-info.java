/** The part of the agent that runs inside a service. */
@NullMarked
package io.seckill.system.agent.inside;

import org.jspecify.annotations.NullMarked;
