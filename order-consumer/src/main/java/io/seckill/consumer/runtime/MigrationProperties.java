package io.seckill.consumer.runtime;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param enabled whether the start changes the tables; if not, the start is refused unless {@code
 *     order-consumer migrate} has changed them, and the user of the migration needs SELECT only
 */
@ConfigurationProperties("seckill.migration")
record MigrationProperties(@DefaultValue("true") boolean enabled) {}
