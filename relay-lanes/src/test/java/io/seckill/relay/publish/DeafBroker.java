package io.seckill.relay.publish;

import com.rabbitmq.client.BlockedCallback;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.UnblockedCallback;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** Connections without a server: blocked by an alarm until it ends, and nothing is confirmed. */
public final class DeafBroker extends ConnectionFactory {

  private final List<UnblockedCallback> blocked = new CopyOnWriteArrayList<>();

  @Override
  public Connection newConnection(String name) {
    return stub(Connection.class);
  }

  void endAlarm() throws IOException {
    for (UnblockedCallback connection : blocked) {
      connection.handle();
    }
  }

  private <T> T stub(Class<T> type) {
    AtomicLong published = new AtomicLong();
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, args) -> {
              if (method.getName().equals("addBlockedListener")) {
                blocked.add((UnblockedCallback) args[1]);
                ((BlockedCallback) args[0]).handle("memory");
              }
              return switch (method.getName()) {
                case "createChannel" -> stub(Channel.class);
                case "getNextPublishSeqNo" -> published.incrementAndGet();
                case "isOpen" -> true;
                default -> null;
              };
            }));
  }
}
