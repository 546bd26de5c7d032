package io.seckill.common.settings;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The certificate authorities trusted to sign server certificates: those of a PEM file and no
 * other, or those of the Java platform. This class does not verify host names; its caller has to
 * enable that check.
 */
public final class TrustedAuthorities {

  private TrustedAuthorities() {}

  /**
   * Returns a context for clients, without a client certificate.
   *
   * @param pemFile one or more certificates; null for the authorities of the Java platform ({@code
   *     javax.net.ssl.trustStore})
   * @throws IllegalArgumentException naming the file when it cannot be read or holds no certificate
   */
  public static SSLContext context(@Nullable Path pemFile) {
    try {
      return pemFile == null ? SSLContext.getDefault() : trusting(keyStore(pemFile));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java platform cannot do TLS", e);
    }
  }

  /**
   * Returns the authorities as a trust store, for a client library that creates its context itself.
   *
   * @return a PKCS #12 file with an empty password
   * @throws IllegalArgumentException naming the file when it cannot be read or holds no certificate
   */
  public static byte[] pkcs12(Path pemFile) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      keyStore(pemFile).store(bytes, new char[0]);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("a trust store in memory cannot be written", e);
    }
    return bytes.toByteArray();
  }

  private static KeyStore keyStore(Path pemFile) {
    try (InputStream pem = new BufferedInputStream(Files.newInputStream(pemFile))) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null); // empty
      for (Certificate authority :
          CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        store.setCertificateEntry("authority-" + store.size(), authority);
      }
      if (store.size() == 0) {
        throw new IllegalArgumentException("no certificate in " + pemFile);
      }
      return store;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("no certificates can be read from " + pemFile, e);
    }
  }

  private static SSLContext trusting(KeyStore store) throws GeneralSecurityException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
