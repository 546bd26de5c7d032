package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisSettings.Mode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.SslVerifyMode;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

class RedisClientsTest {

  @Test
  void checksTheCertificateAndTheHostOfAServerWithTls() {
    SslOptions tls =
        RedisClients.clientConfig(RedisSettings.single("rediss://127.0.0.1:6379"), "test")
            .getSslOptions();

    assertThat(tls.getSslVerifyMode()).isEqualTo(SslVerifyMode.FULL);
  }

  @Test
  void asksTheNextSentinelWhenOneDoesNotAnswer() throws IOException {
    JedisClientConfig silent = // sends nothing when it connects
        DefaultJedisClientConfig.builder()
            .autoNegotiateProtocol(false)
            .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
            .build();
    int closed;
    try (ServerSocket before = listening()) {
      closed = before.getLocalPort();
    }
    try (ServerSocket open = listening()) {
      RedisSettings settings =
          new RedisSettings(
              Mode.SENTINEL,
              "redis://127.0.0.1:1",
              List.of("127.0.0.1:" + closed, "127.0.0.1:" + open.getLocalPort()),
              "seckill",
              null,
              null,
              null);

      assertThat(RedisClients.<String>askAny(settings, silent, sentinel -> "its answer"))
          .isEqualTo("its answer");
    }
  }

  /** One that is cut off from the others still names the former master. */
  @Test
  void followsTheMasterThatMostSentinelsName() throws IOException {
    whenAllAnswerInTime(
        (cutOff, second, third) -> {
          RedisSettings settings = sentinels(cutOff, second, third);

          assertThat(RedisClients.presentMaster(settings, "test"))
              .isEqualTo(new HostAndPort("127.0.0.1", 2));
        });
  }

  @Test
  void takesTheReplicasFromASentinelThatNamesThatMaster() throws IOException {
    whenAllAnswerInTime(
        (cutOff, second, third) -> {
          RedisNodes nodes = new RedisNodes(sentinels(cutOff, second, third), "test");

          assertThatThrownBy(() -> nodes.query(0)) // nobody listens on port 2
              .isInstanceOf(JedisConnectionException.class);

          assertThat(Stream.of(cutOff, second, third).map(one -> one.lists.get()))
              .containsExactly(0, 1, 0);
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"SENTINEL", "CLUSTER"})
  void opensWhileNoNodeAnswers(Mode mode) {
    try (UnifiedJedis redis = RedisClients.open(withoutNodes(mode), "test")) {
      assertThatThrownBy(() -> redis.get("key"))
          .isInstanceOf(JedisException.class)
          .isNotInstanceOf(JedisDataException.class);
    }
    assertThat(System.getProperty(RedisClusterClient.INIT_NO_ERROR_PROPERTY)).isNull();
  }

  /** A lane opens its client again until it can be used. */
  @ParameterizedTest
  @EnumSource(names = {"SENTINEL", "CLUSTER"})
  void failsToOpenForOneMasterWhileNoNodeAnswers(Mode mode) {
    assertThatThrownBy(() -> RedisClients.openForOneMaster(withoutNodes(mode), "test"))
        .isInstanceOf(JedisException.class);
  }

  private static RedisSettings withoutNodes(Mode mode) {
    String nobody = "127.0.0.1:1";
    return new RedisSettings(
        mode, "redis://" + nobody, List.of(nobody), "seckill", null, null, null);
  }

  @FunctionalInterface
  private interface SentinelTest {
    void run(OneSentinel cutOff, OneSentinel second, OneSentinel third);
  }

  /** Repeats a test with other sentinels: each must answer within a quarter of a second. */
  private static void whenAllAnswerInTime(SentinelTest test) throws IOException {
    for (int times = 1; ; times++) {
      try (OneSentinel cutOff = new OneSentinel(1);
          OneSentinel second = new OneSentinel(2);
          OneSentinel third = new OneSentinel(2)) {
        test.run(cutOff, second, third);
        return;
      } catch (AssertionError | JedisException e) {
        if (times == 20) {
          throw e;
        }
      }
    }
  }

  private static RedisSettings sentinels(OneSentinel... sentinels) {
    return new RedisSettings(
        Mode.SENTINEL,
        "redis://127.0.0.1:1",
        Stream.of(sentinels).map(one -> "127.0.0.1:" + one.socket.getLocalPort()).toList(),
        "seckill",
        null,
        null,
        null);
  }

  private static ServerSocket listening() throws IOException {
    return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }

  /** Names a master on this machine, without replicas; to most other commands it says OK. */
  private static final class OneSentinel implements AutoCloseable {

    private final ServerSocket socket = listening();
    private final int master;

    /** How often it was asked for the replicas. */
    private final AtomicInteger lists = new AtomicInteger();

    OneSentinel(int master) throws IOException {
      this.master = master;
      Thread thread = new Thread(this::serve, "sentinel");
      thread.setDaemon(true);
      thread.start();
    }

    private void serve() {
      while (!socket.isClosed()) {
        try (Socket client = socket.accept();
            BufferedReader lines =
                new BufferedReader(
                    new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII))) {
          for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer = answer(words(lines, Integer.parseInt(line.substring(1))));
            client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
          }
        } catch (IOException e) {
          // the client has gone, or the test has ended
        }
      }
    }

    private static List<String> words(BufferedReader lines, int count) throws IOException {
      List<String> words = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String length = lines.readLine();
        words.add(lines.readLine());
        assertThat(length).isEqualTo("$" + words.get(i).length());
      }
      return words;
    }

    private String answer(List<String> command) {
      String what = command.size() > 1 ? command.get(1).toLowerCase(Locale.ROOT) : "";
      if (what.equals("get-master-addr-by-name")) {
        return "*2\r\n$9\r\n127.0.0.1\r\n$1\r\n" + master + "\r\n";
      } else if (what.equals("replicas") || what.equals("slaves")) {
        lists.incrementAndGet();
        return "*0\r\n";
      } else if (command.get(0).equals("HELLO")) {
        return "*2\r\n$5\r\nproto\r\n:2\r\n";
      }
      return "+OK\r\n";
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
