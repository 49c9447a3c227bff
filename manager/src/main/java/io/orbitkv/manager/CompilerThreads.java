package io.orbitkv.manager;

import io.orbitkv.ffm.Cpu;
import io.orbitkv.ffm.NativeException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of this JVM's compilers. They have a second of work when a Manager meets its first
 * traffic, and an engine on the same host waits for just that traffic. For a process that is a
 * Manager and nothing else.
 */
public final class CompilerThreads {
  /** What the kernel keeps of their names. */
  private static final Set<String> NAMES = Set.of("C1 CompilerThre", "C2 CompilerThre");

  /** A thirtieth of a processor that another thread wants, too. */
  private static final int NICE = 15;
  private static final Path TASKS = Path.of("/proc/self/task");

  private CompilerThreads() {}

  /**
   * Lets them have what nobody else wants of the processors, from now on: the compiled code comes a
   * little later where there is no processor to spare. Any thread; never throws.
   */
  public static void giveWay() {
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(TASKS)) {
      for (Path task : tasks) {
        if (NAMES.contains(Files.readString(task.resolve("comm")).strip())) {
          Cpu.giveWay(Integer.parseInt(task.getFileName().toString()), NICE);
        }
      }
    } catch (IOException | DirectoryIteratorException | NativeException e) {
      // A thread may have ended meanwhile; and all works without this.
      Logger log = LoggerFactory.getLogger(CompilerThreads.class);
      log.debug("compiler threads keep their priority: {}", e.toString());
    }
  }
}
