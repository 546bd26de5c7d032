package io.seckill.system.faults;

import io.seckill.testing.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** The links of one process to the three servers, each of which a test can break. */
record Links(TcpProxy redis, TcpProxy rabbit, TcpProxy mysql) implements AutoCloseable {

  static Links to(LabServers servers) {
    try {
      return new Links(
          TcpProxy.to(servers.redis()),
          TcpProxy.to(servers.rabbit()),
          TcpProxy.to(servers.mysql()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<TcpProxy> all() {
    return List.of(redis, rabbit, mysql);
  }

  void heal() {
    all().forEach(TcpProxy::heal);
  }

  @Override
  public void close() {
    all().forEach(TcpProxy::close);
  }
}
