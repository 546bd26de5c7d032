package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A service may do what it needs; that it may is shown by every test of the pipeline. */
class ShippedRightsTest {

  private static final Path DEPLOY = Path.of(System.getProperty("seckill.root"), "deploy");

  private static final Set<String> OF_ADMINISTRATORS =
      Set.of(
          "allkeys",
          "~*",
          "allcommands",
          "nopass",
          "+flushall",
          "+flushdb",
          "+keys",
          "+acl",
          "+config",
          "+config|set",
          "+config|rewrite",
          "+shutdown",
          "+debug",
          "+replicaof",
          "+slaveof",
          "+rename",
          "+monitor");

  @Test
  void inMySqlTheGatewayReadsAndOrderConsumerChangesNoTable() throws IOException {
    Map<String, String> grants =
        matches("mysql/users.sql", "(?m)^GRANT (.+) ON seckill[.][*] TO '(\\w+)'@'%';$")
            .collect(Collectors.toMap(grant -> grant.group(2), grant -> grant.group(1)));

    assertThat(grants)
        .isEqualTo(
            Map.of(
                "seckill_owner", "ALL PRIVILEGES",
                "seckill_consumer", "SELECT, INSERT, UPDATE, DELETE",
                "seckill_gateway", "SELECT"));
    assertThat(matches("mysql/users.sql", "(?im)^GRANT ")).hasSize(grants.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"gateway", "relay", "consumer"})
  void inRedisAServiceMayDoNothingThatIsNotListed(String user) throws IOException {
    Set<String> rules = Set.copyOf(Arrays.asList(redisUser(user).split("\\s+", -1)));

    assertThat(rules)
        .contains("on", "resetchannels", "-@all")
        .doesNotContainAnyElementsOf(OF_ADMINISTRATORS);
    assertThat(rules).noneMatch(rule -> rule.startsWith("+@"));
    assertThat(rules.stream().filter(rule -> rule.contains("~")))
        .allMatch(key -> key.matches("(%R)?~seckill:[{][a-z*]+[}]:[a-z]+(:[*])?"));
  }

  @Test
  void inRedisNobodyNeedsNoPassword() throws IOException {
    assertThat(redisUser("default")).contains(" off ", "resetpass");
  }

  /** Only order-consumer reads queues, and only administrators have all rights. */
  @Test
  void inRabbitMqEachServiceHasItsPart() throws IOException {
    Map<String, List<String>> rights = new TreeMap<>();
    matches(
            "rabbitmq/definitions.json",
            "\"user\": \"(\\w+)\",[^}]*\"configure\": \"([^\"]*)\",\\s*"
                + "\"write\": \"([^\"]*)\",\\s*\"read\": \"([^\"]*)\"")
        .forEach(
            one -> rights.put(one.group(1), List.of(one.group(2), one.group(3), one.group(4))));

    String exchanges = "^seckill\\\\.(orders|dead)$";
    String all = "^seckill\\\\.(orders|dead|orders\\\\.([0-3]|dead))$";
    assertThat(rights)
        .isEqualTo(
            Map.of(
                "gateway", List.of("", exchanges, ""),
                "relay", List.of(all, all, exchanges),
                "consumer", List.of(all, all, all),
                "admin", List.of(".*", ".*", ".*")));
    assertThat(
            matches("rabbitmq/definitions.json", "\"name\": \"(\\w+)\".*\"tags\": \\[\"")
                .map(user -> user.group(1)))
        .containsExactly("admin");
  }

  private static String redisUser(String user) throws IOException {
    return matches("redis/users.acl", "(?m)^user " + user + " .*(\\n  .*)*$")
        .map(MatchResult::group)
        .findFirst()
        .orElseThrow();
  }

  private static Stream<MatchResult> matches(String file, String pattern) throws IOException {
    return Pattern.compile(pattern).matcher(Files.readString(DEPLOY.resolve(file))).results();
  }
}
