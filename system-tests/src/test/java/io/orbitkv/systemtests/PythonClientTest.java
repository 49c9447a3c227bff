package io.orbitkv.systemtests;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.orbitkv.systemtests.rig.PythonSuite;
import io.orbitkv.systemtests.rig.Rig;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.opentest4j.TestAbortedException;

/**
 * The Python client's own tests, in adapter/python/tests, each as a test here: with Managers of the
 * distribution, blocks published and read across both languages, Managers that are killed, and ones
 * that answer what they must not. Their guards are named there.
 */
class PythonClientTest {
  @RegisterExtension final Rig rig = new Rig();

  @TestFactory
  Stream<DynamicTest> python() {
    return PythonSuite.lacks(rig.directory())
        .map(lacks -> Stream.of(dynamicTest("python3", () -> skip(lacks))))
        .orElseGet(
            () ->
                PythonSuite.run(rig.directory()).stream()
                    .map(result -> dynamicTest(result.test(), () -> check(result))));
  }

  private static void check(PythonSuite.Result result) {
    switch (result.outcome()) {
      case "passed" -> {}
      case "skipped" -> skip(result.test() + ": " + result.detail());
      default -> fail(result.test() + ": " + result.detail());
    }
  }

  private static void skip(String reason) {
    throw new TestAbortedException(reason);
  }
}
