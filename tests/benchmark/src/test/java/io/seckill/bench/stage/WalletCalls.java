package io.seckill.bench.stage;

import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.FundedUsers;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.report.Figures;
import io.seckill.system.Pipeline;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import io.seckill.system.process.Service;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Charges through the product: {@code POST /internal/v1/wallet/operations} of order-consumer.
 *
 * @param perCall operations in a call, 1..512
 */
record WalletCalls(Lab lab, Figures figures, int perCall) {

  /**
   * Sends the calls, each as soon as a connection is free or at its time, and compares the rows
   * with the answers.
   *
   * @param perSecond calls, {@link LoadPlan#ASAP} for no rate
   */
  void measure(String key, int users, int connections, int calls, double perSecond)
      throws IOException, SQLException {
    try (FundedUsers funded = new FundedUsers(lab, users)) {
      byte[][] requests = new byte[calls][];
      for (int i = 0; i < calls; i++) {
        requests[i] = request(funded);
      }
      LoadPlan plan =
          new LoadPlan(
              lab.pipeline().healthPort(Service.CONSUMER),
              connections,
              calls,
              perSecond,
              i -> requests[(int) i]);
      CpuTimes before = CpuTimes.now();
      LoadResult result = Loader.run(plan, answer -> {});
      long charged = result.answers(200) * perCall;
      before.addSince(figures, key + "per_s", charged);
      figures.add(key + "per_s", charged / result.seconds());
      figures.add(key + "p50_ms", result.percentileMs(50));
      figures.add(key + "p99_ms", result.percentileMs(99));
      figures.count(key + "refused", (long) calls * perCall - charged);
      funded.count(figures, WalletStage.NAME, charged);
    }
  }

  private byte[] request(FundedUsers funded) {
    String operations =
        LongStream.range(0, perCall)
            .map(i -> WalletStage.CHARGES.getAndIncrement())
            .mapToObj(charge -> operation(funded.users().id(charge), charge))
            .collect(Collectors.joining(","));
    String body = "{\"operations\":[" + operations + "]}";
    String head =
        "POST /internal/v1/wallet/operations HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
            + Pipeline.internalToken()
            + "\r\nContent-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n";
    return (head + body).getBytes(StandardCharsets.US_ASCII);
  }

  private static String operation(long user, long charge) {
    return ("{\"userId\":%d,\"kind\":\"CHARGE\",\"requestId\":\"bench-%2$d\",\"amountCents\":1,"
            + "\"chargeId\":%2$d}")
        .formatted(user, charge);
  }
}
