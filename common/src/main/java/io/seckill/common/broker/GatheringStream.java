package io.seckill.common.broker;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes everything through at once, except between {@link #holdBack} and {@link #release}: then it
 * buffers up to {@value #SIZE} bytes, and writes what exceeds the buffer. The order of bytes never
 * changes. Thread-safe.
 */
final class GatheringStream extends FilterOutputStream {

  private static final int SIZE = 64 * 1024;

  private final byte[] kept = new byte[SIZE];
  private int count;
  private boolean holding;

  GatheringStream(OutputStream out) {
    super(out);
  }

  synchronized void holdBack() {
    holding = true;
  }

  synchronized void release() throws IOException {
    holding = false;
    passOn();
    out.flush();
  }

  @Override
  public synchronized void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int from, int length) throws IOException {
    if (holding && length <= SIZE - count) {
      System.arraycopy(bytes, from, kept, count, length);
      count += length;
    } else {
      passOn();
      out.write(bytes, from, length);
    }
  }

  @Override
  public synchronized void flush() throws IOException {
    if (!holding) {
      passOn();
      out.flush();
    }
  }

  private void passOn() throws IOException {
    int length = count;
    count = 0;
    out.write(kept, 0, length);
  }
}
