package io.seckill.system.faults;

import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.process.LocalHttp;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.Bounded;
import io.seckill.testing.CleanEnvironment;
import io.seckill.testing.Ports;
import io.seckill.testing.Programs;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/** HAProxy as {@code scripts/up --ha} runs it, in front of a lab's gateways and order-consumers. */
final class HaProxy implements AutoCloseable {

  /** HAProxy's own problems have a UUID. */
  private static final String ID_OF_A_GATEWAY = "[0-9a-f]{16}";

  private static final Path CONFIGURATION =
      Path.of(System.getProperty("seckill.root"), "deploy/haproxy/haproxy.cfg");
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final int adminPort = Ports.free();
  private final ShopClient shop;
  private final Process process;

  private HaProxy(PipelineLab lab) throws IOException {
    int shopPort = Ports.free();
    this.shop = lab.shopAt(shopPort);
    ProcessBuilder builder =
        new ProcessBuilder(
                Programs.find("haproxy", "haproxy"), "-db", "-f", CONFIGURATION.toString())
            .redirectErrorStream(true)
            .redirectOutput(new File("target", "haproxy-" + shopPort + ".log"));
    CleanEnvironment.give(builder, Map.of("BIND", "127.0.0.1"));
    Map<String, String> environment = builder.environment();
    environment.put("GATEWAY_PORT", Integer.toString(shopPort));
    environment.put("ADMIN_PORT", Integer.toString(adminPort));
    environment.put("CONSUMER_PORT", Integer.toString(Ports.free()));
    putAddresses(environment, "GATEWAY", lab.shopPorts());
    putAddresses(environment, "ADMIN", healthPorts(lab.gateways()));
    putAddresses(environment, "CONSUMER", healthPorts(lab.consumers()));
    this.process = builder.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-haproxy"));
  }

  static HaProxy before(PipelineLab lab) {
    try {
      return new HaProxy(lab);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Integer> healthPorts(List<ServiceInstance> services) {
    return services.stream().map(ServiceInstance::healthPort).toList();
  }

  private static void putAddresses(
      Map<String, String> environment, String name, List<Integer> ports) {
    for (int number = 1; number <= ports.size(); number++) {
      environment.put(name + "_" + number, "127.0.0.1:" + ports.get(number - 1));
    }
  }

  /** A client of its port for shoppers. */
  ShopClient shop() {
    return shop;
  }

  /** Buys one unit, once. */
  Answer buy(SaleOffer sale) {
    return Bounded.get(shop.buyAsync(1, sale.skuId(), 1, "key-" + System.nanoTime()));
  }

  /** Buys one after the other, and returns the answers that no gateway has given. */
  List<Answer> notFromAGateway(SaleOffer sale, int purchases) {
    return Stream.generate(() -> buy(sale))
        .limit(purchases)
        .filter(answer -> answer.status() != 201)
        .filter(answer -> !answer.text("correlationId").matches(ID_OF_A_GATEWAY))
        .toList();
  }

  /** The health that a gateway reports. */
  Answer health() {
    HttpResponse<String> response = LocalHttp.get(adminPort, "/api/v1/health", PATIENCE);
    return new Answer(response.statusCode(), JsonMapper.shared().readTree(response.body()));
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
