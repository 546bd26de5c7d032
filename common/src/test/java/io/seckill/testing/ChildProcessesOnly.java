package io.seckill.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class with {@link TestServers} whose own servers must see files, or reach each other's
 * ports, of this machine: skipped where servers are containers.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(TestServers.class)
@DisabledIfSystemProperty(
    named = "seckill.test.servers",
    matches = "containers",
    disabledReason = "its servers must be processes of this machine")
public @interface ChildProcessesOnly {}
