package io.seckill.support.web;

import static io.seckill.common.settings.SettingChecks.check;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Demo mode, for local use: a gateway gives tokens of any shopper and of an operator to everybody
 * who asks, and order-consumer simulates payments when no payment provider is installed.
 *
 * @param enabled whether demo mode is on; refused under the profiles prod and production
 * @param exposed whether demo mode may be on in a process that listens beyond loopback, as in a
 *     container whose ports are published on loopback only
 */
@ConfigurationProperties("seckill.demo")
public record DemoMode(
    @DefaultValue("false") boolean enabled, @DefaultValue("false") boolean exposed) {

  /**
   * @param address where the process listens; null for every interface
   * @param property the property that sets the address
   * @throws IllegalArgumentException when demo mode would be open to other machines, and {@code
   *     exposed} does not allow it
   */
  public void checkAddress(@Nullable InetAddress address, String property) {
    check(
        !enabled || exposed || (address != null && address.isLoopbackAddress()),
        "seckill.demo.enabled is refused where other machines reach this process: set "
            + property
            + "=127.0.0.1, switch demo mode off, or allow it with seckill.demo.exposed=true");
  }
}
