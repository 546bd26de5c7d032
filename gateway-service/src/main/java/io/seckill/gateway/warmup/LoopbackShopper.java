package io.seckill.gateway.warmup;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.WarmUpTokens;
import io.seckill.support.web.PathIds;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Buys a SKU that is never on sale, over HTTP as shoppers do, as many different shoppers. Has plain
 * sockets: an HTTP client would take more time than the gateway, and would share its classes, which
 * are compiled for those who use them. Used by one thread; {@link #close} by any.
 */
final class LoopbackShopper implements Closeable {

  /** Connections, each for one purchase at a time. */
  static final int AT_ONCE = 64;

  private static final int CONNECT_TIMEOUT_MS = 2_000;

  /**
   * Far above the time the gateway allows a purchase, even when a cold start keeps all cores busy.
   */
  private static final int ANSWER_TIMEOUT_MS = 10_000;

  private static final String LINE_END = "\r\n";
  private static final String BODY = "{\"quantity\":1}";
  private static final String LENGTH = "content-length:";
  private static final int STATUS_AT = "HTTP/1.1 ".length();
  private static final int STATUS_END = STATUS_AT + 3;

  private final InetSocketAddress gateway;
  private final WarmUpTokens tokens;
  private final String head;
  private final List<Socket> sockets = Stream.generate(Socket::new).limit(AT_ONCE).toList();
  private final List<InputStream> answers = new ArrayList<>();

  LoopbackShopper(int port, WarmUpTokens tokens, String secret) {
    this.gateway = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    this.tokens = tokens;
    this.head =
        String.join(
            LINE_END,
            "POST /api/v1/skus/" + PathIds.NEVER_ON_SALE + "/orders HTTP/1.1",
            "Host: 127.0.0.1:" + port,
            RateLimits.WARM_UP + ": " + secret,
            "Content-Type: application/json",
            "Content-Length: " + BODY.length());
  }

  /** Opens the connections; called once, before {@link #buy}. */
  void connect() throws IOException {
    for (Socket socket : sockets) {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(ANSWER_TIMEOUT_MS);
      socket.connect(gateway, CONNECT_TIMEOUT_MS);
      answers.add(new BufferedInputStream(socket.getInputStream()));
    }
  }

  /**
   * Buys at once, and waits for the answers.
   *
   * @param first number of the first purchase, from 0; every purchase has its own
   * @param count 1..{@link #AT_ONCE}
   * @return the statuses of the answers
   * @throws IOException when a purchase gets none
   */
  List<Integer> buy(int first, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      sockets.get(i).getOutputStream().write(purchase(first + i).getBytes(US_ASCII));
    }
    List<Integer> statuses = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      statuses.add(status(answers.get(i)));
    }
    return statuses;
  }

  private String purchase(int number) {
    return String.join(
        LINE_END,
        head,
        "Authorization: Bearer " + tokens.shopper(number),
        "Idempotency-Key: warm-up-" + number,
        "",
        BODY);
  }

  /** Reads an answer; all of the gateway's have their length. */
  private static int status(InputStream answer) throws IOException {
    String first = line(answer);
    long length = 0;
    for (String next = line(answer); !next.isEmpty(); next = line(answer)) {
      if (next.toLowerCase(Locale.ROOT).startsWith(LENGTH)) {
        length = Long.parseLong(next.substring(LENGTH.length()).trim());
      }
    }
    answer.skipNBytes(length);
    return Integer.parseInt(first.substring(STATUS_AT, STATUS_END));
  }

  /** Without its end. */
  private static String line(InputStream answer) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = answer.read(); next != '\n'; next = answer.read()) {
      if (next < 0) {
        throw new EOFException("the gateway has closed the connection");
      } else if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  /** Ends the purchases in progress. */
  @Override
  public void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
