package io.seckill.consumer.audit;

import java.time.LocalTime;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param at time of day, UTC, from which the audits of a day are made
 */
@ConfigurationProperties("seckill.audit")
record AuditProperties(@DefaultValue("03:00") LocalTime at) {}
