package io.seckill.bench.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SettingsTest {

  private final List<String> done = new ArrayList<>();

  @Test
  void letsWhatIsComparedTakeTurnsForwardsAndBackwards() throws Exception {
    new Settings(false, false, Set.of()).repeatInTurns(List.of(work("A"), work("B"), work("C")));

    assertThat(done).containsExactly("A", "B", "C", "C", "B", "A", "A", "B", "C");
  }

  @Test
  void measuresOnceWhenQuick() throws Exception {
    new Settings(true, false, Set.of()).repeatInTurns(List.of(work("A"), work("B")));

    assertThat(done).containsExactly("A", "B");
  }

  private Work work(String name) {
    return () -> done.add(name);
  }
}
