package io.seckill.common.broker;

import com.rabbitmq.client.ConnectionFactory;
import io.seckill.common.settings.TrustedAuthorities;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import org.jspecify.annotations.Nullable;

/** Sets the address of the broker and how its TLS certificate is verified. */
public final class BrokerAddress {

  private BrokerAddress() {}

  /**
   * Points the factory at the broker. With {@code amqps} the certificate must come from a trusted
   * authority and name the host; by default the client library trusts any certificate.
   *
   * @param url {@code amqp[s]://user:password@host:port/vhost}
   * @param caFile PEM file of the authorities to trust; null for those of the Java platform
   * @throws IllegalArgumentException when the URL is invalid or the file holds no certificate
   */
  public static void set(ConnectionFactory factory, String url, @Nullable Path caFile) {
    try {
      factory.setUri(url);
    } catch (URISyntaxException | GeneralSecurityException e) {
      throw new IllegalArgumentException("seckill.broker.url is not usable", e);
    }
    if (factory.isSSL()) {
      factory.useSslProtocol(TrustedAuthorities.context(caFile));
      factory.enableHostnameVerification();
    }
  }
}
