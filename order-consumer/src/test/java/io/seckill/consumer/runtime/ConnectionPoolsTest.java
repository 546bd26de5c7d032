package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

class ConnectionPoolsTest {

  /** ShippedSizesTest compares the documented number with what MySQL allows. */
  @Test
  void togetherTheyAreAsLargeAsDocumented() throws Exception {
    ConnectionPools pools = new ConnectionPools(new HikariDataSource(), new SimpleMeterRegistry());
    int connections =
        List.of(pools.orderStorage(), pools.strongSales(), pools.fallback(), pools.reconciliation())
            .stream()
            .mapToInt(pool -> ((HikariDataSource) pool).getMaximumPoolSize())
            .sum();
    Map<String, Map<String, Map<String, Map<String, Object>>>> settings =
        new Yaml().load(getClass().getResourceAsStream("/application.yml"));

    connections +=
        (int) settings.get("spring").get("datasource").get("hikari").get("maximum-pool-size");

    assertThat(
            Files.readString(Path.of(System.getProperty("seckill.root"), "docs/configuration.md")))
        .contains(connections + " connections in all");
  }
}
