package io.seckill.system.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentUnavailableException;
import io.seckill.system.ServiceEnvironment;
import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceProcess;
import io.seckill.testing.Ports;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Tag("proof")
@ExtendWith(TestServers.class)
class InstalledPaymentProviderIT {

  private static final String AUTO_CONFIGURATIONS =
      "META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports";

  @Test
  void startsOutsideDemoModeWithTheProviderOfAJarInTheLoaderPath(@TempDir Path directory)
      throws IOException {
    writeJar(directory.resolve("absent-bank.jar"));
    int port = Ports.free();
    Map<String, String> environment = new HashMap<>(environment(port));
    environment.remove("SECKILL_DEMO_ENABLED");
    environment.put("SECKILL_PAYMENT_PROVIDER", "installed");
    environment.put("LOADER_PATH", directory.toString());

    try (ServiceProcess consumer =
        ServiceProcess.start(Service.CONSUMER, "installed-payment-provider", port, environment)) {
      assertThat(consumer.awaitReady().isReady()).isTrue();
    }
  }

  /** As where {@code scripts/up} is not given the directory of the jar. */
  @Test
  void refusesToSimulatePaymentsInPlaceOfTheProviderThatIsToBeInstalled() {
    int port = Ports.free();
    Map<String, String> environment = new HashMap<>(environment(port));
    environment.put("SECKILL_PAYMENT_PROVIDER", "installed");

    try (ServiceProcess consumer =
        ServiceProcess.start(Service.CONSUMER, "missing-payment-provider", port, environment)) {
      consumer.awaitDeath(ServiceProcess.START_LIMIT);
      assertThat(consumer.logged("no payment provider is installed")).isPositive();
    }
  }

  private static Map<String, String> environment(int port) {
    return new ServiceEnvironment(
            TestServers.redis().newDatabase().url(),
            TestServers.rabbit().newVhost().url(),
            TestServers.mysql().newDatabase(),
            "unused",
            "token-of-the-tests-0123456789")
        .consumer(port);
  }

  private static void writeJar(Path file) throws IOException {
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file))) {
      jar.putNextEntry(new JarEntry(AUTO_CONFIGURATIONS));
      jar.write(AbsentBank.Installed.class.getName().getBytes(StandardCharsets.UTF_8));
      addClass(jar, AbsentBank.class);
      addClass(jar, AbsentBank.Installed.class);
    }
  }

  private static void addClass(JarOutputStream jar, Class<?> type) throws IOException {
    String name = type.getName().replace('.', '/') + ".class";
    jar.putNextEntry(new JarEntry(name));
    try (InputStream bytes = type.getClassLoader().getResourceAsStream(name)) {
      Objects.requireNonNull(bytes, name).transferTo(jar);
    }
  }

  /** The smallest provider: it is never available. */
  static final class AbsentBank implements PaymentProvider {

    /** Installed as docs/payment.md describes. */
    @Configuration(proxyBeanMethods = false)
    static class Installed {

      @Bean
      PaymentProvider absentBank() {
        return new AbsentBank();
      }
    }

    @Override
    public Charge charge(OrderId orderId, long amountCents) {
      throw new PaymentUnavailableException("nobody answers", null);
    }

    @Override
    public Optional<Charge.Charged> find(OrderId orderId) {
      throw new PaymentUnavailableException("nobody answers", null);
    }

    @Override
    public void refund(OrderId orderId) {
      throw new PaymentUnavailableException("nobody answers", null);
    }

    @Override
    public Duration longestBookingDelay() {
      return Duration.ofDays(1);
    }
  }
}
