package io.seckill.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A certificate authority of one test, created with openssl; no other program trusts it. */
public final class TestAuthority {

  private final Path directory;
  private final String name;

  private TestAuthority(Path directory, String name) {
    this.directory = directory;
    this.name = name;
  }

  /** PEM files of a server: its certificate, and its key without a password. */
  public record ServerCertificate(Path certificate, Path key) {

    /**
     * Lines of redis.conf.
     *
     * @param tlsPort port for TLS, in addition to the plain port
     * @param more lines appended to these
     */
    public String[] forRedis(int tlsPort, String... more) {
      Stream<String> lines =
          Stream.of(
              "tls-port " + tlsPort,
              "tls-cert-file " + certificate,
              "tls-key-file " + key,
              "tls-auth-clients no");
      return Stream.concat(lines, Stream.of(more)).toArray(String[]::new);
    }

    /**
     * Lines of rabbitmq.conf.
     *
     * @param tlsPort port for TLS, in addition to the plain port
     */
    public String[] forRabbit(int tlsPort) {
      return new String[] {
        "listeners.ssl.1 = 127.0.0.1:" + tlsPort,
        "ssl_options.certfile = " + certificate,
        "ssl_options.keyfile = " + key,
        "ssl_options.verify = verify_none"
      };
    }
  }

  /**
   * @param directory where its files are written
   * @param name of the authority and of its files
   */
  public static TestAuthority create(Path directory, String name) {
    TestAuthority authority = new TestAuthority(directory, name);
    authority.openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2",
        "-subj",
        "/CN=" + name,
        "-keyout",
        authority.key().toString(),
        "-out",
        authority.certificate().toString());
    return authority;
  }

  /** PEM file of the authority's own certificate. */
  public Path certificate() {
    return directory.resolve(name + ".pem");
  }

  private Path key() {
    return directory.resolve(name + ".key");
  }

  /**
   * A certificate for a server.
   *
   * @param subject as in subjectAltName: {@code IP:127.0.0.1} or {@code DNS:elsewhere.example}
   */
  public ServerCertificate issueFor(String subject) {
    String file = name + "-" + subject.replaceAll("[^A-Za-z0-9.]", "-");
    Path request = directory.resolve(file + ".csr");
    Path extension = directory.resolve(file + ".cnf");
    ServerCertificate issued =
        new ServerCertificate(directory.resolve(file + ".pem"), directory.resolve(file + ".key"));
    ServerFiles.write(extension, List.of("subjectAltName=" + subject));
    openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=server",
        "-keyout",
        issued.key().toString(),
        "-out",
        request.toString());
    openssl(
        "x509 -req -days 2 -CAcreateserial",
        "-CA",
        certificate().toString(),
        "-CAkey",
        key().toString(),
        "-extfile",
        extension.toString(),
        "-in",
        request.toString(),
        "-out",
        issued.certificate().toString());
    return issued;
  }

  /** A PKCS #12 trust store with the authority's certificate, for clients that cannot read PEM. */
  public Path trustStore(String password) {
    Path file = directory.resolve(name + ".p12");
    try (InputStream pem = Files.newInputStream(certificate());
        OutputStream out = Files.newOutputStream(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setCertificateEntry(
          name, CertificateFactory.getInstance("X.509").generateCertificate(pem));
      store.store(out, password.toCharArray());
      return file;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("Cannot write " + file, e);
    }
  }

  private void openssl(String words, String... more) {
    List<String> command = new ArrayList<>(List.of(Programs.find("openssl", "openssl")));
    command.addAll(List.of(words.split(" ")));
    command.addAll(List.of(more));
    Commands.run(command, Map.of());
  }
}
