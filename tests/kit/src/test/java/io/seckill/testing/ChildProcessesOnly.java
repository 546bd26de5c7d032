package io.seckill.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a test class with {@link TestServers}, or a test of one, whose own servers must read files
 * of this machine or connect to each other's ports on it. It is skipped where servers are
 * containers.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(TestServers.class)
@DisabledIfSystemProperty(
    named = "seckill.test.servers",
    matches = "containers",
    disabledReason = "its servers must be processes of this machine")
public @interface ChildProcessesOnly {}
