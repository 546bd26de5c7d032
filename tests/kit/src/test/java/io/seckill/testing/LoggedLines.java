package io.seckill.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.read.ListAppender;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Collects the lines of a logger, from INFO up, until it is closed; they remain readable. */
public final class LoggedLines implements AutoCloseable {

  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
  private final Logger logger;
  private final @Nullable Level level;

  private LoggedLines(String name, @Nullable Thread only) {
    this.logger = (Logger) LoggerFactory.getLogger(name);
    this.level = logger.getLevel();
    if (only != null) {
      appender.addFilter(by(only));
    }
    appender.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(appender);
  }

  public static LoggedLines of(Class<?> type) {
    return of(type.getName());
  }

  /**
   * @param logger the logger's name; a package's name includes the loggers below it
   */
  public static LoggedLines of(String logger) {
    return new LoggedLines(logger, null);
  }

  /** As {@link #of(Class)}, without the lines of applications that other tests have started. */
  public static LoggedLines ofThisThread(Class<?> type) {
    return new LoggedLines(type.getName(), Thread.currentThread());
  }

  private static Filter<ILoggingEvent> by(Thread thread) {
    return new Filter<>() {
      @Override
      public FilterReply decide(ILoggingEvent event) {
        return Thread.currentThread() == thread ? FilterReply.NEUTRAL : FilterReply.DENY;
      }
    };
  }

  public List<ILoggingEvent> events() {
    synchronized (appender) { // as doAppend does
      return List.copyOf(appender.list);
    }
  }

  public List<String> texts() {
    return events().stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setLevel(level);
  }
}
