package io.seckill.gateway.web;

import static io.seckill.common.settings.SettingChecks.check;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the admin port.
 *
 * @param port 0..65535; 0 takes a free one, published as {@code local.admin.port}
 * @param address interface to listen on, an IP address or a host name
 */
@ConfigurationProperties("seckill.admin")
record AdminPortProperties(
    @DefaultValue("8081") int port, @DefaultValue("0.0.0.0") String address) {

  AdminPortProperties {
    check(port >= 0 && port <= 65_535, "seckill.admin.port must be 0..65535 but is " + port);
    check(!address.isBlank(), "seckill.admin.address must not be empty");
  }

  /** Null when the host is not known; the port then does not open. */
  @Nullable InetAddress inetAddress() {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException e) {
      return null;
    }
  }
}
