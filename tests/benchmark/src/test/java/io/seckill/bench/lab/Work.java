package io.seckill.bench.lab;

/** Work done while something is observed or frozen. */
@FunctionalInterface
public interface Work {

  void run() throws Exception;
}
