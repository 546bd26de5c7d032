package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;

/** Checks the sales of a run repeatedly, until every guarantee holds or no change is expected. */
final class Judgement {

  private static final List<String> QUEUES =
      IntStream.range(0, BrokerTopology.ORDER_QUEUES).mapToObj(BrokerTopology::orderQueue).toList();

  private final PipelineLab lab;
  private final List<SaleOffer> sales;
  private final LoadGenerator load;
  private final Purchases purchases;
  private final List<Guarantee> guarantees;

  private volatile List<SaleAtRest> atRest = List.of();
  private volatile List<String> complaints = List.of();
  private long movedAt = System.nanoTime();

  Judgement(
      PipelineLab lab,
      List<SaleOffer> sales,
      LoadGenerator load,
      Purchases purchases,
      List<Guarantee> guarantees) {
    this.lab = lab;
    this.sales = sales;
    this.load = load;
    this.purchases = purchases;
    this.guarantees = guarantees;
  }

  /**
   * Performs one check.
   *
   * @return whether everything holds, or nothing has changed for {@link PipelineLab#patience()}
   */
  boolean isOver() throws SQLException {
    if (complaints.isEmpty()) {
      complaints = List.of("the stores could not be read"); // unless this check is completed
    }
    List<String> found = new ArrayList<>();
    Set<String> queues = Set.copyOf(lab.servers().vhost().queues());
    check(found, "RabbitMQ", () -> assertThat(queues).as("queues").containsAll(QUEUES));
    long inBroker = QUEUES.stream().filter(queues::contains).mapToLong(this::depth).sum();
    List<SaleAtRest> read = new ArrayList<>();
    if (inBroker > 0) {
      found.add("RabbitMQ: " + inBroker + " messages in the queues");
    } else {
      for (SaleOffer sale : sales) {
        for (SaleAtRest one : lab.sales().readAll(sale)) {
          guarantees.forEach(guarantee -> guarantee.judge(one, purchases, found));
          read.add(one);
        }
      }
    }
    if (!load.isDone()) {
      found.add("the load is not done: " + load);
    }
    if (read.isEmpty() || !read.equals(atRest) || isOnTheWay(read)) {
      movedAt = System.nanoTime();
    }
    atRest = read;
    complaints = found;
    return found.isEmpty() || isStill();
  }

  private long depth(String queue) {
    return lab.servers().vhost().queueDepth(queue).total();
  }

  private static boolean isOnTheWay(List<SaleAtRest> sales) {
    return sales.stream().anyMatch(sale -> sale.outboxed() + sale.inPrivateQueues() > 0);
  }

  private boolean isStill() {
    if (System.nanoTime() - movedAt < lab.patience().toNanos()) {
      return false;
    }
    boolean ready = lab.all().stream().allMatch(ServiceInstance::isReady);
    if (!ready) {
      movedAt = System.nanoTime();
    }
    return ready;
  }

  /** The violations found by the latest check, each with the name of its guarantee. */
  List<String> complaints() {
    return complaints;
  }

  /** The sales as read by the latest check. */
  List<SaleAtRest> atRest() {
    return atRest;
  }

  /** Adds the judge's message if it finds a violation. */
  static void check(List<String> complaints, String judge, Runnable judgement) {
    try {
      judgement.run();
    } catch (AssertionError | ConditionTimeoutException e) {
      complaints.add(judge + ": " + e.getMessage());
    }
  }
}
