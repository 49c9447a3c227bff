package io.orbitkv.adapter.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.orbitkv.ffm.Mapping;
import io.orbitkv.ffm.Memfd;
import io.orbitkv.ffm.Protection;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class RestoreWordTest {
  @Test
  void theBitsOfAWordAreThoseOfTheProtocol() {
    assertThat(EngineState.ACTIVE.word(1)).isEqualTo(0x101L);
    assertThat(EngineState.PART_DRAINED.word(1)).isEqualTo(0x102L);
    assertThat(EngineState.DRAINED.word(2)).isEqualTo(0x203L);
    assertThat(EngineState.FAILED.word(RestoreWord.MAX_GENERATION))
        .isEqualTo(0xffff_ffff_ffff_ff04L);
    assertThat(ManagerState.GRANTED.word(1)).isEqualTo(0x111L);
    assertThat(ManagerState.REVOKED.word(1)).isEqualTo(0x112L);
    assertThat(ManagerState.REAPED.word(1)).isEqualTo(0x113L);
  }

  /** Guard: the comparison of generations in both read methods. */
  @Test
  void anotherGenerationReadsAsNone() {
    for (EngineState state : EngineState.values()) {
      long word = state.word(7);
      assertThat(EngineState.read(word, 7)).isEqualTo(state);
      assertThat(EngineState.read(word, 6)).isEqualTo(EngineState.NONE);
      assertThat(EngineState.read(word, 8)).isEqualTo(EngineState.NONE);
    }
    for (ManagerState state : ManagerState.values()) {
      long word = state.word(RestoreWord.MAX_GENERATION);
      assertThat(ManagerState.read(word, RestoreWord.MAX_GENERATION)).isEqualTo(state);
      assertThat(ManagerState.read(word, 1)).isEqualTo(ManagerState.NONE);
    }
    assertThat(EngineState.read(0, 1)).isEqualTo(EngineState.NONE);
    assertThat(ManagerState.read(0, 1)).isEqualTo(ManagerState.NONE);
  }

  @Test
  void noWordOfOneSideIsAWordOfTheOther() {
    assertThat(ManagerState.read(EngineState.ACTIVE.word(3), 3)).isEqualTo(ManagerState.NONE);
    assertThatThrownBy(() -> EngineState.read(ManagerState.GRANTED.word(3), 3))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("0x311");
  }

  @Test
  void aGenerationThatDoesNotFitIsRefused() {
    for (long generation : new long[] {0, -1, RestoreWord.MAX_GENERATION + 1, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> EngineState.ACTIVE.word(generation))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(String.valueOf(generation));
    }
  }

  @Test
  void onlyLegalStepsAreLegal() {
    assertThat(EngineState.NONE.canBecome(EngineState.DRAINED)).isFalse();
    assertThat(EngineState.DRAINED.canBecome(EngineState.ACTIVE)).isFalse();
    assertThat(EngineState.PART_DRAINED.canBecome(EngineState.ACTIVE)).isFalse();
    assertThat(EngineState.DRAINED.reaches(EngineState.ACTIVE)).isFalse();
    assertThat(EngineState.NONE.reaches(EngineState.FAILED)).isTrue();
    assertThat(ManagerState.REVOKED.canBecome(ManagerState.GRANTED)).isFalse();
    assertThat(ManagerState.NONE.canBecome(ManagerState.REVOKED)).isFalse();
    assertThat(ManagerState.REAPED.canBecome(ManagerState.GRANTED)).isFalse();
  }

  /** Guards: the checks of the constructor, and the end of the mapping. */
  @Test
  void aMappedWordChecksWhereItIs() {
    try (var fd = Memfd.create("restore-test", 4096)) {
      Mapping mapping = Mapping.map(fd, 0, 4096, Protection.READ_WRITE, false);
      MemorySegment memory = mapping.segment();
      MappedWord last = new MappedWord(memory, 4088);
      last.store(EngineState.ACTIVE.word(5));
      assertThat(last.load()).isEqualTo(0x501L);
      assertThatThrownBy(() -> new MappedWord(memory, 4))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("offset 4");
      assertThatThrownBy(() -> new MappedWord(memory, 4096))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> new MappedWord(memory, -8))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> new MappedWord(MemorySegment.ofArray(new long[2]), 8))
          .isInstanceOf(IllegalArgumentException.class);
      try (Mapping reading = Mapping.map(fd, 0, 4096, Protection.READ, false)) {
        MappedWord seen = new MappedWord(reading.segment(), 4088);
        assertThat(seen.load()).isEqualTo(0x501L);
        assertThatThrownBy(() -> seen.store(1)).isInstanceOf(RuntimeException.class);
      }
      mapping.close();
      assertThatThrownBy(last::load).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> last.store(1)).isInstanceOf(IllegalStateException.class);
    }
  }
}
