package io.orbitkv.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
}
