package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Users;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.Requests;
import java.util.List;

/** Purchases of one unit each by different users, signed before the measurement starts. */
final class ReadyPurchases {

  private static final int CONNECTIONS = 256;

  private final int port;
  private final Users users;
  private final byte[][] requests;

  ReadyPurchases(Lab lab, BenchSale sale, int count) {
    this(lab, List.of(sale), count);
  }

  /** As above, from these sales in turn. */
  ReadyPurchases(Lab lab, List<BenchSale> sales, int count) {
    this(lab, sales, lab.newUsers(count));
  }

  /** As above, by these users. */
  ReadyPurchases(Lab lab, List<BenchSale> sales, Users users) {
    this.port = lab.pipeline().shopPort();
    this.requests = new byte[(int) users.count()][];
    Requests signed = new Requests(lab.pipeline().tokens());
    this.users = users;
    for (int i = 0; i < requests.length; i++) {
      requests[i] = signed.purchase(users.id(i), sales.get(i % sales.size()).soldAs());
    }
  }

  int count() {
    return requests.length;
  }

  /** The user of each request. */
  Users users() {
    return users;
  }

  /** Returns a plan that sends some of the requests again, as fast as possible. */
  LoadPlan someOf(List<Integer> indexes) {
    return new LoadPlan(
        port, CONNECTIONS, indexes.size(), LoadPlan.ASAP, i -> requests[indexes.get((int) i)]);
  }

  /** Returns a plan that sends all of them as fast as answers come, with so many at once. */
  LoadPlan asap(int connections) {
    return plan(connections, LoadPlan.ASAP);
  }

  LoadPlan at(double perSecond) {
    return plan(CONNECTIONS, perSecond);
  }

  private LoadPlan plan(int connections, double perSecond) {
    return new LoadPlan(port, connections, requests.length, perSecond, i -> requests[(int) i]);
  }
}
