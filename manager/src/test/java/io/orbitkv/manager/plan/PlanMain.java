package io.orbitkv.manager.plan;

import io.orbitkv.adapter.ManagerClient;
import io.orbitkv.adapter.RestorePlan;
import io.orbitkv.adapter.Role;
import io.orbitkv.api.TransportException;
import io.orbitkv.manager.Manager;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A process of the tests of plans: a Manager, or an engine that is told plans as lines of "record
 * generation". It says what it did, a word a line.
 */
final class PlanMain {
  static final String MANAGER = "manager";
  static final String RESTORE = "restore";
  static final String STAY_ACTIVE = "stay-active";

  /** Has so many blocks promised as the first number says, and says the plan's numbers. */
  static final String PROMISE = "promise";

  private PlanMain() {}

  static Process start(String task, Path socket) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            PlanMain.class.getName(),
            task,
            socket.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The task, and the socket. */
  public static void main(String[] arguments) throws IOException {
    Path socket = Path.of(arguments[1]);
    if (arguments[0].equals(MANAGER)) {
      Manager manager = Site.manager(socket);
      say("ready");
      park(manager);
    }
    ManagerClient client = Site.client(socket, Role.WORKER);
    say("ready");
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] name = line.split(" ", -1);
      if (arguments[0].equals(PROMISE)) {
        say(promise(client, Integer.parseInt(name[0])));
        continue;
      }
      try {
        RestorePlan plan =
            client.plans().redeem(Integer.parseInt(name[0]), Long.parseLong(name[1]));
        if (arguments[0].equals(STAY_ACTIVE)) {
          stayActive(plan);
        }
        Site.assertRestores(plan);
        say("restored");
      } catch (TransportException e) {
        say(e.code().toString());
      } catch (AssertionError e) {
        say("wrong bytes");
      }
    }
  }

  private static String promise(ManagerClient client, int count) {
    RestorePlan plan = client.plans().promise(Site.names(count), Site.LOCAL, 0).orElseThrow();
    return plan.record() + " " + plan.generation();
  }

  private static void stayActive(RestorePlan plan) {
    plan.restore(
        Site.buffers(plan, Arena.ofAuto()),
        _ -> {
          say("active");
          park(plan);
        });
  }

  private static void park(Object keeps) {
    while (true) {
      LockSupport.park(keeps);
    }
  }

  private static void say(String word) {
    System.out.println(word);
    System.out.flush();
  }
}
