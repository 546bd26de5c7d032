package io.seckill.bench.lab;

/** What is done while something is watched or stands still. */
@FunctionalInterface
public interface Work {

  void run() throws Exception;
}
