package io.seckill.consumer.archive;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * @param after time from a sale's closing time until it is closed and archived without a request, 1
 *     d..3650 d; 0 for never
 * @param keep time from the archive of a sale until its orders are deleted, 30 d..36500 d; 0 for
 *     never
 */
@ConfigurationProperties("seckill.archive")
record ArchiveProperties(@DefaultValue("0d") Duration after, @DefaultValue("3650d") Duration keep) {

  ArchiveProperties {
    check(
        after.isZero() || isWithin(after, Duration.ofDays(1), Duration.ofDays(3_650)),
        "seckill.archive.after must be 1d..3650d, or 0, but is " + after);
    check(
        keep.isZero() || isWithin(keep, Duration.ofDays(30), Duration.ofDays(36_500)),
        "seckill.archive.keep must be 30d..36500d, or 0, but is " + keep);
  }
}
