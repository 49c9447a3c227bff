package io.orbitkv.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class MembarrierTest {
  /** Makes every membarrier(2) of this process and its children fail with ENOSYS. */
  private static final String WITHOUT_MEMBARRIER =
      """
      import ctypes, os, struct, sys
      number = {'x86_64': 324, 'aarch64': 283}[os.uname().machine]
      program = b''.join(struct.pack('HBBI', *line) for line in (
          (0x20, 0, 0, 0),                       # load the number of the call
          (0x15, 0, 1, number),                  # is it membarrier?
          (0x06, 0, 0, 0x00050000 | 38),         # yes: ENOSYS
          (0x06, 0, 0, 0x7fff0000)))             # no: allow
      lines = ctypes.create_string_buffer(program)
      filter = ctypes.create_string_buffer(struct.pack('HxxxxxxP', 4, ctypes.addressof(lines)))
      libc = ctypes.CDLL(None, use_errno=True)
      if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter):
          sys.exit('no seccomp: errno %d' % ctypes.get_errno())
      os.execvp(sys.argv[1], sys.argv[1:])
      """;

  @Test
  void thisKernelHasItOrSaysWhatItNeeds() {
    Assumptions.assumeTrue(Membarrier.supported(), "this kernel has no global expedited barrier");
    Membarrier.require();
    Membarrier.register();
    Membarrier.barrier();
  }

  /** Guard: the query in require(). */
  @Test
  void withoutItTheErrorIsOneLineWithTheFix() throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    "python3",
                    "-c",
                    WITHOUT_MEMBARRIER,
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    MembarrierTest.class.getName()))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Assumptions.assumeFalse(said.startsWith("no seccomp"), "needs seccomp filters: " + said);
    assertThat(said.strip())
        .isEqualTo(
            "false membarrier(QUERY): ENOSYS Function not implemented;"
                + " needs Linux 4.16 and no seccomp filter against it");
    assertThat(process.waitFor()).isEqualTo(PeerProcess.RIGHT);
  }

  public static void main(String[] arguments) {
    boolean supported = Membarrier.supported();
    try {
      Membarrier.require();
    } catch (NativeException e) {
      System.out.println(supported + " " + e.getMessage());
      System.exit(PeerProcess.RIGHT);
    }
  }
}
