package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ProgramsTest {

  @Test
  void namesThePackageOfAProgramThatIsMissing() {
    assertThatThrownBy(() -> Programs.find("no-such-server", "no-such-package"))
        .isInstanceOf(ServerStartException.class)
        .hasMessage("no-such-server is not installed: apt-get install no-such-package");
  }
}
