package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContainerBackendTest {

  @ParameterizedTest
  @CsvSource({
    "unix:///var/run/docker.sock, false",
    "npipe:////./pipe/docker_engine, false",
    "tcp://127.0.0.1:2375, false",
    "tcp://localhost:2375, false",
    "tcp://[::1]:2375, false",
    "'', false",
    "tcp://10.0.0.1:2375, true",
    "tcp://docker:2376, true",
    "tcp://localhost.example.com, true",
    "ssh://root@shop, true"
  })
  void skipsContainersOfAnotherMachine(String engine, boolean elsewhere) {
    assertThat(ContainerBackend.isElsewhere(engine)).isEqualTo(elsewhere);
  }
}
