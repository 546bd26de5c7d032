package io.seckill.consumer.reconciliation;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.consumer.products.ReplicationId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/**
 * Reads hashes of a sale. {@code read} gets each field with its value; an IllegalArgumentException
 * of it becomes an {@link UnreadableFieldException}.
 */
final class SaleHashes {

  /** Of names and values together. Redis serves nobody else while it reads a page. */
  private static final ScanParams PAGE = new ScanParams().count(500);

  private static final String BEGINNING = ScanParams.SCAN_POINTER_START;

  private SaleHashes() {}

  /** Reads each hash at one moment; for hashes of limited size. */
  static void atOnce(UnifiedJedis redis, List<String> keys, BiConsumer<String, String> read) {
    answers(redis, keys, (pipeline, key) -> pipeline.hgetAll(key))
        .forEach((key, fields) -> readEach(key, fields.entrySet(), read));
  }

  /**
   * Reads hashes of any size. Every field that exists all the time is read, with a value that it
   * had meanwhile, maybe more than once; others may be.
   *
   * @param sku of all keys
   * @throws JedisException also when another server takes over meanwhile
   */
  static void pageByPage(
      UnifiedJedis redis, long sku, List<String> keys, BiConsumer<String, String> read) {
    answers(redis, keys, (pipeline, key) -> pipeline.hscan(key, BEGINNING, PAGE))
        .forEach(
            (key, first) -> {
              if (first.isCompleteIteration()) {
                readEach(key, first.getResult(), read);
              } else {
                allPages(redis, sku, key, read);
              }
            });
  }

  /**
   * Reads a large hash from its beginning. A server orders fields by a random seed of its own, so a
   * cursor of another one skips some.
   */
  private static void allPages(
      UnifiedJedis redis, long sku, String key, BiConsumer<String, String> read) {
    int partition = Partition.ofSku(sku);
    String server = ReplicationId.of(redis, partition);
    String cursor = BEGINNING;
    ScanResult<Entry<String, String>> page;
    do {
      page = redis.hscan(key, cursor, PAGE);
      readEach(key, page.getResult(), read);
      cursor = page.getCursor();
    } while (!page.isCompleteIteration());
    if (!server.equals(ReplicationId.of(redis, partition))) {
      throw new JedisException("another server has taken over while " + key + " was read");
    }
  }

  /** The answers to one command for each key, in one round trip. */
  private static <T> Map<String, T> answers(
      UnifiedJedis redis,
      List<String> keys,
      BiFunction<AbstractPipeline, String, Response<T>> command) {
    Map<String, Response<T>> responses = new LinkedHashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      keys.forEach(key -> responses.put(key, command.apply(pipeline, key)));
      pipeline.sync();
    }
    Map<String, T> answers = new LinkedHashMap<>();
    responses.forEach((key, response) -> answers.put(key, PipelineReplies.get(response)));
    return answers;
  }

  private static void readEach(
      String key, Iterable<Entry<String, String>> fields, BiConsumer<String, String> read) {
    fields.forEach(
        field -> {
          try {
            read.accept(field.getKey(), field.getValue());
          } catch (IllegalArgumentException e) {
            throw new UnreadableFieldException(key, field.getKey(), e);
          }
        });
  }
}
