package io.orbitkv.cli;

import io.orbitkv.manager.config.SettingValues;
import io.orbitkv.manager.config.Settings;
import io.orbitkv.manager.plugin.LoadedProvider;
import io.orbitkv.manager.plugin.ProviderCatalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Runs the commands of a file one after the other in this process, so that the JVM can record what
 * they load for the AOT cache of the distribution. Used while packaging only.
 */
final class AotTraining {
  private static final String PEER_READS = "peer-reads";

  private AotTraining() {}

  /**
   * Runs them.
   *
   * @param args one path: a file with one command a line, {@code #} starts a comment line; {@code
   *     peer-reads} is none of the commands, but a {@link Rehearsal}
   */
  public static void main(String[] args) throws IOException {
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      String command = line.strip();
      if (command.isEmpty() || command.startsWith("#")) {
        continue;
      }
      if (command.equals(PEER_READS)) {
        readFromPeers();
        continue;
      }
      int code = Main.run(command.split(" +", -1));
      if (code != 0) {
        System.out.println(
            "AOT training: 'orbitkv " + command + "' ended with " + code + ", so little is cached");
      }
    }
    // Threads that a command left behind must not keep the recording open.
    System.exit(0);
  }

  private static void readFromPeers() {
    SettingValues none = SettingValues.beforePlugins(Map.of(), Map.of());
    try (ProviderCatalog catalog = ManagerCommand.catalog(none)) {
      LoadedProvider loaded = Backend.select(catalog, none.get(Settings.BACKEND));
      var _ = new Rehearsal(new RehearsalManagers(loaded), () -> true).run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (CommandException | IOException | RuntimeException e) {
      System.out.println(
          "AOT training: no reads between Managers, so they start slower: " + e.getMessage());
    }
  }
}
