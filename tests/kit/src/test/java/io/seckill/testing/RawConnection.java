package io.seckill.testing;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A connection on which the test writes every byte itself. */
public final class RawConnection implements AutoCloseable {

  private static final Pattern LENGTH =
      Pattern.compile("\r\ncontent-length: (\\d+)\r\n", Pattern.CASE_INSENSITIVE);

  private final Socket socket;
  private final InputStream in;

  public RawConnection(int port) {
    try {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setSoTimeout((int) Eventually.SOON.toMillis());
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends this text alone; returns what the server sends until it closes the connection. */
  public static String exchange(int port, String text) {
    try (RawConnection connection = new RawConnection(port)) {
      connection.send(text);
      return connection.untilClosed();
    }
  }

  public void send(String text) {
    try {
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for one answer; returns its head and body, empty when the connection has ended. */
  public String answer() {
    try {
      StringBuilder text = new StringBuilder();
      while (text.indexOf("\r\n\r\n") < 0) {
        int next = in.read();
        if (next < 0) {
          return text.toString();
        }
        text.append((char) next);
      }
      Matcher length = LENGTH.matcher(text);
      int bodyBytes = length.find() ? Integer.parseInt(length.group(1)) : 0;
      return text + new String(in.readNBytes(bodyBytes), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what the server still sends until it closes the connection. */
  public String untilClosed() {
    try {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the connection. */
  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
