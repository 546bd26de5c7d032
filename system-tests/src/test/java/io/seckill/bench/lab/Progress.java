package io.seckill.bench.lab;

import java.io.PrintStream;

/**
 * What is being measured, with the seconds since the start: one line that overwrites itself on a
 * terminal, a line each elsewhere.
 */
public final class Progress {

  private static final String ERASE_LINE = "\r\u001b[K";

  private final PrintStream out;
  private final boolean terminal;
  private final long startNanos = System.nanoTime();

  public Progress(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** Says what happens now. */
  public void now(String what) {
    String line = "%4ds  %s".formatted((System.nanoTime() - startNanos) / 1_000_000_000, what);
    if (terminal) {
      out.print(ERASE_LINE + line);
      out.flush();
    } else {
      out.println(line);
    }
  }

  /** Says something that stays. */
  public void note(String what) {
    out.println((terminal ? ERASE_LINE : "") + what);
  }

  /** Takes the line away. */
  public void done() {
    if (terminal) {
      out.print(ERASE_LINE);
      out.flush();
    }
  }
}
