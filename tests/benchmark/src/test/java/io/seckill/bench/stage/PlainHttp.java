package io.seckill.bench.stage;

import io.seckill.bench.baseline.BaselineServer;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.report.Figures;
import io.seckill.system.load.RequestFile;
import io.seckill.system.load.Requests;
import io.seckill.system.load.Wrk;
import io.seckill.system.shop.ShopTokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The ceiling of every rate over HTTP: the gateway's HTTP stack answering on the event loop without
 * any store. Sends one request repeatedly, of the length of a purchase.
 */
final class PlainHttp {

  static final String RATE = "http.plain_per_s";

  private static final String WRONG_ANSWERS = "http.wrong_answers";
  private static final int CONNECTIONS = 64;

  /** Enough that wrk rarely restarts at the beginning of its file. */
  private static final int COPIES = 10_000;

  private PlainHttp() {}

  /** Adds answers per second and the CPU time per answer. */
  static void measure(Figures figures, String rateKey, BaselineServer baseline, Duration run)
      throws IOException, InterruptedException {
    byte[] request = request(baseline.tokens());
    try (RequestFile file = RequestFile.write(COPIES, i -> request)) {
      CpuTimes before = CpuTimes.now();
      Wrk.Result result = Wrk.run(baseline.port(), CONNECTIONS, run, file);
      before.addSince(figures, rateKey, result.answers());
      figures.add(rateKey, result.perSecond());
      figures.count(WRONG_ANSWERS, result.failed(0));
    }
  }

  static byte[] request(ShopTokens tokens) {
    String purchase =
        new String(new Requests(tokens).purchase(1_000_000_000, 1), StandardCharsets.US_ASCII);
    return purchase.replace("/api/v1/", "/plain/").getBytes(StandardCharsets.US_ASCII);
  }
}
