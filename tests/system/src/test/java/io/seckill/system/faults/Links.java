package io.seckill.system.faults;

import io.seckill.testing.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** The proxied links of one process; a test can break each: to all three servers, or none. */
public record Links(List<TcpProxy> all) implements AutoCloseable {

  static Links to(LabServers servers) {
    try {
      return new Links(
          List.of(
              TcpProxy.to(servers.redis()),
              TcpProxy.to(servers.rabbit()),
              TcpProxy.to(servers.mysql())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of a process that connects to its servers directly. */
  public static Links none() {
    return new Links(List.of());
  }

  TcpProxy redis() {
    return all.get(0);
  }

  TcpProxy rabbit() {
    return all.get(1);
  }

  TcpProxy mysql() {
    return all.get(2);
  }

  void heal() {
    all().forEach(TcpProxy::heal);
  }

  @Override
  public void close() {
    all().forEach(TcpProxy::close);
  }
}
