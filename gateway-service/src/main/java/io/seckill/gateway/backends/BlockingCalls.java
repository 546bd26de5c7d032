package io.seckill.gateway.backends;

import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.thread.DaemonThreads;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.dao.DataAccessException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Runs blocking calls to one store on a dedicated thread pool. The numbers of running and waiting
 * calls are bounded; further calls are refused at once with 503 BUSY. A caller waits no longer than
 * the time-out; a failure of the store is returned as 503 with the store's code, and its message is
 * never passed on to the caller.
 */
public final class BlockingCalls implements DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(BlockingCalls.class);
  private static final long IDLE_SECONDS = 60;

  private final ThrottledLog failures = new ThrottledLog(log);
  private final String store;
  private final ProblemCode unavailableCode;
  private final Duration timeout;
  private final Scheduler threads;

  /**
   * @param store for thread names and log lines
   * @param unavailableCode problem code when the store fails or does not answer in time
   * @param waiting calls that may wait for a thread, in all
   */
  BlockingCalls(
      String store, ProblemCode unavailableCode, int threads, int waiting, Duration timeout) {
    this.store = store;
    this.unavailableCode = unavailableCode;
    this.timeout = timeout;
    this.threads = Schedulers.fromExecutorService(pool(store, threads, waiting));
  }

  /** One queue for all threads: Reactor's own bounded scheduler has one for each thread. */
  private static ThreadPoolExecutor pool(String store, int threads, int waiting) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(waiting),
            DaemonThreads.named("calls-" + store));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Returns the call's result; it is empty when the call returns null. */
  public <T> Mono<T> call(Callable<? extends T> call) {
    return Mono.<T>fromCallable(call)
        .subscribeOn(threads)
        .timeout(timeout)
        .onErrorMap(failure -> !(failure instanceof ProblemException), this::problem);
  }

  private ProblemException problem(Throwable failure) {
    if (failure instanceof RejectedExecutionException) {
      return ProblemException.of(ProblemCode.BUSY);
    }
    if (failure instanceof TimeoutException
        || failure instanceof JedisException
        || failure instanceof DataAccessException) {
      failures.warn(store + " does not answer", failure);
    } else {
      log.error("a call of {} failed", store, failure);
    }
    return ProblemException.of(
        unavailableCode,
        "What this request needs is unavailable at the moment; it may be repeated.");
  }

  @Override
  public void destroy() {
    threads.dispose();
  }
}
