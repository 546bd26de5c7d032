package io.seckill.system.load;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Sends requests at their due times, on one thread. A latency runs from the due time, not from the
 * moment of sending: delays that a slow server causes for later requests are included (no
 * coordinated omission). Its clock has a resolution of 1 ms, so latencies are up to 1 ms too long.
 */
public final class Loader implements AutoCloseable {

  private static final long ANSWER_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long TICK_MS = 1;
  private static final int READ_BYTES = 64 * 1024;

  private final LoadPlan plan;
  private final Consumer<LoadAnswer> listener;
  private final InetSocketAddress target;
  private final Selector selector;
  private final List<LoaderConnection> all = new ArrayList<>();
  private final Deque<LoaderConnection> idle = new ArrayDeque<>();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
  private final Map<Integer, Long> byStatus = new HashMap<>();
  private final Histogram latencyMicros = new Histogram(TimeUnit.SECONDS.toMicros(60), 3);
  private long sent;
  private long done;
  private long broken;
  private long startNanos;
  private long lastAnswerNanos;

  private Loader(LoadPlan plan, Consumer<LoadAnswer> listener) throws IOException {
    this.plan = plan;
    this.listener = listener;
    this.target = new InetSocketAddress(InetAddress.getLoopbackAddress(), plan.port());
    this.selector = Selector.open();
    latencyMicros.setAutoResize(true);
  }

  /**
   * Sends everything and waits for the answers, each at most about 30 s after the last request was
   * sent.
   *
   * @param listener called with every answer, on this thread; must not block
   */
  public static LoadResult run(LoadPlan plan, Consumer<LoadAnswer> listener) throws IOException {
    try (Loader loader = new Loader(plan, listener)) {
      return loader.run();
    }
  }

  private LoadResult run() throws IOException {
    for (int i = 0; i < plan.connections(); i++) {
      idle.push(connect());
    }
    startNanos = System.nanoTime();
    lastAnswerNanos = startNanos;
    while (done < plan.requests() && !isOverdue()) {
      sendWhatIsDue();
      selector.select(this::handle, TICK_MS);
    }
    broken += plan.requests() - done;
    double seconds = (lastAnswerNanos - startNanos) / 1e9;
    return new LoadResult(Map.copyOf(byStatus), broken, seconds, latencyMicros);
  }

  private void sendWhatIsDue() throws IOException {
    long elapsed = System.nanoTime() - startNanos;
    while (sent < plan.requests() && !idle.isEmpty() && plan.dueNanos(sent) <= elapsed) {
      long due = plan.perSecond() == LoadPlan.ASAP ? System.nanoTime() : dueAt(sent);
      LoaderConnection connection = idle.pop();
      try {
        connection.send(sent, plan.request().apply(sent), due);
      } catch (IOException e) {
        replace(connection);
      }
      sent++;
    }
  }

  private long dueAt(long index) {
    return startNanos + plan.dueNanos(index);
  }

  private void handle(SelectionKey key) {
    LoaderConnection connection = (LoaderConnection) key.attachment();
    try {
      if (key.isWritable()) {
        connection.write();
      }
      if (key.isReadable() && connection.read(buffer)) {
        take(connection);
      }
    } catch (IOException e) {
      replaceOrGiveUp(connection);
    }
  }

  private void take(LoaderConnection connection) {
    lastAnswerNanos = System.nanoTime();
    LoadAnswer answer = connection.answer(lastAnswerNanos);
    done++;
    byStatus.merge(answer.status(), 1L, Long::sum);
    latencyMicros.recordValue(TimeUnit.NANOSECONDS.toMicros(answer.latencyNanos()));
    idle.push(connection);
    listener.accept(answer);
  }

  private void replaceOrGiveUp(LoaderConnection connection) {
    try {
      replace(connection);
    } catch (IOException e) {
      // The server accepts no more connections; the others continue, and requests that are not
      // sent count as broken.
    }
  }

  /** The request of a broken connection counts as broken, too. */
  private void replace(LoaderConnection connection) throws IOException {
    boolean busy = !idle.remove(connection);
    connection.close();
    if (busy) {
      done++;
      broken++;
    }
    idle.push(connect());
  }

  private LoaderConnection connect() throws IOException {
    LoaderConnection connection = LoaderConnection.open(target, selector);
    all.add(connection);
    return connection;
  }

  private boolean isOverdue() {
    long lastDue = plan.perSecond() == LoadPlan.ASAP ? lastAnswerNanos : dueAt(plan.requests() - 1);
    long since = System.nanoTime() - Math.max(lastDue, lastAnswerNanos);
    return since > ANSWER_LIMIT_NANOS;
  }

  @Override
  public void close() throws IOException {
    for (LoaderConnection connection : all) {
      connection.close();
    }
    selector.close();
  }
}
