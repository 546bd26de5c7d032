package io.seckill.consumer.archive;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The periodic tasks of archive and retention. */
@Configuration(proxyBeanMethods = false)
class ArchiveConfiguration {

  private static final Duration ROUND_PAUSE = Duration.ofSeconds(5);
  private static final Duration DUE_PAUSE = Duration.ofMinutes(10);
  private static final Duration RETENTION_PAUSE = Duration.ofMinutes(10);

  @Bean
  Sweeper archiveSweeper(SaleArchiver archiver) {
    return new Sweeper("archive", ROUND_PAUSE, archiver::round);
  }

  @Bean
  Sweeper dueArchivesSweeper(SaleArchiver archiver, ArchiveProperties settings) {
    return new Sweeper("due-archives", DUE_PAUSE, () -> archiver.beginDue(settings.after()));
  }

  @Bean
  Sweeper retentionSweeper(Retention retention, SaleArchiver archiver, ArchiveProperties settings) {
    return new Sweeper(
        "retention",
        RETENTION_PAUSE,
        () -> {
          retention.sweep();
          archiver.purge(settings.keep());
        });
  }
}
