package io.orbitkv.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.spi.FilterReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/** Sets what the log on stderr shows; what logback.xml says holds until then. */
final class LogOutput {
  private LogOutput() {}

  /**
   * Sets format and level.
   *
   * @param format {@code text} or {@code json}
   * @param level as slf4j calls it, lower case
   */
  static void configure(String format, String level) {
    if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return;
    }
    context.getLogger("io.orbitkv").setLevel(Level.toLevel(level));
    if (format.equals("json")) {
      context
          .getLogger(Logger.ROOT_LOGGER_NAME)
          .iteratorForAppenders()
          .forEachRemaining(
              appender -> {
                if (appender instanceof OutputStreamAppender<ILoggingEvent> stream) {
                  JsonEncoder encoder = new JsonEncoder();
                  encoder.setContext(context);
                  encoder.start();
                  stream.setEncoder(encoder);
                }
              });
    }
  }

  /**
   * Drops what threads of a group and those that they start say, but errors, until it is closed.
   */
  static Silence silence(ThreadGroup group) {
    Silence silence = new Silence(group);
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.addTurboFilter(silence);
    }
    return silence;
  }

  /** See {@link #silence}. */
  static final class Silence extends TurboFilter implements AutoCloseable {
    private final ThreadGroup group;

    private Silence(ThreadGroup group) {
      this.group = group;
    }

    @Override
    public FilterReply decide(
        @Nullable Marker marker,
        ch.qos.logback.classic.Logger logger,
        Level level,
        @Nullable String format,
        Object @Nullable [] parameters,
        @Nullable Throwable thrown) {
      return !level.isGreaterOrEqual(Level.ERROR)
              && group.equals(Thread.currentThread().getThreadGroup())
          ? FilterReply.DENY
          : FilterReply.NEUTRAL;
    }

    @Override
    public void close() {
      if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
        context.getTurboFilterList().remove(this);
      }
    }
  }
}
