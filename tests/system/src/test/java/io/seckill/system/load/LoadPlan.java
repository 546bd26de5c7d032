package io.seckill.system.load;

import java.util.function.LongFunction;

/**
 * The requests that a {@link Loader} sends.
 *
 * @param port on 127.0.0.1
 * @param connections most requests in flight at once
 * @param requests total number of requests
 * @param perSecond the rate at which they become due, also while the server is slow; {@link #ASAP}
 *     to send each as soon as a connection is free
 * @param request the bytes of the n-th request, from 0
 */
public record LoadPlan(
    int port, int connections, long requests, double perSecond, LongFunction<byte[]> request) {

  /** No rate: sends the next request when a connection is free. */
  public static final double ASAP = Double.POSITIVE_INFINITY;

  public LoadPlan {
    if (connections < 1 || requests < 1 || !(perSecond > 0)) {
      throw new IllegalArgumentException("connections, requests and rate must be positive");
    }
  }

  /** Returns the nanoseconds after the start at which the n-th request is due. */
  long dueNanos(long index) {
    return perSecond == ASAP ? 0 : (long) (index * 1e9 / perSecond);
  }
}
