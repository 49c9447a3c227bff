package io.orbitkv.manager.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.api.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StaticMembershipTest {
  @Test
  void tellsTheListWithoutItsOwnAddress() {
    List<Set<Member>> told = new ArrayList<>();
    try (StaticMembership membership =
        new StaticMembership(List.of("10.0.0.1:7400", "[fd00::2]:7400", " 10.0.0.1:7400"))) {
      membership.watch(told::add);
      membership.publish(new Member("[fd00::2]:7400", "0".repeat(32)));
      membership.publish(new Member("10.9.9.9:7400", "0".repeat(32)));
    }
    assertThat(told)
        .containsExactly(
            Set.of(new Member("10.0.0.1:7400", ""), new Member("[fd00::2]:7400", "")),
            Set.of(new Member("10.0.0.1:7400", "")));
  }

  @Test
  void standaloneTellsNobody() {
    List<Set<Member>> told = new ArrayList<>();
    try (NoMembership membership = new NoMembership()) {
      membership.watch(told::add);
      membership.publish(new Member("10.0.0.1:7400", ""));
    }
    assertThat(told).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "host",
        "host:",
        "host:0",
        "host:65536",
        "host:-1",
        "fd00::2:7400",
        "[fd00::2]",
        "u@host:1",
        "host:1/path",
        "host:1?q",
        "a b:1",
        ":7400",
        "host:7x"
      })
  void whatIsNoAddressIsNamed(String text) {
    assertThatThrownBy(() -> new StaticMembership(List.of("10.0.0.1:1", text)))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("'" + text.strip() + "'")
        .hasMessageContaining("host:port");
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.0.7:7400", "[fd00::7]:1", "node-3.cluster.local:65535"})
  void addressesReadWhatTheyWrite(String text) {
    assertThat(ControlAddress.parse(text)).hasToString(text);
  }
}
