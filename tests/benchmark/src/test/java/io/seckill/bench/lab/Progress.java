package io.seckill.bench.lab;

import java.io.PrintStream;

/**
 * Prints what is being measured, with the seconds since the start: on a terminal one line that is
 * overwritten, elsewhere one line each.
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

  /** Prints the current activity. */
  public void now(String what) {
    String line = "%4ds  %s".formatted((System.nanoTime() - startNanos) / 1_000_000_000, what);
    if (terminal) {
      out.print(ERASE_LINE + line);
      out.flush();
    } else {
      out.println(line);
    }
  }

  /** Prints a line that is not overwritten. */
  public void note(String what) {
    out.println((terminal ? ERASE_LINE : "") + what);
  }

  /** Clears the current line. */
  public void done() {
    if (terminal) {
      out.print(ERASE_LINE);
      out.flush();
    }
  }
}
