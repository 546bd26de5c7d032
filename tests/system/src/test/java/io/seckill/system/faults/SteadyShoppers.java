package io.seckill.system.faults;

import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.ShopClient;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Some forty purchases a second at both gateways, with any answers, until it is closed. */
public final class SteadyShoppers implements AutoCloseable {

  private static final int EVERY_MS = 25;

  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();
  private final PipelineLab lab;
  private final List<SaleOffer> sales;
  private long next = 1;

  /**
   * @param sales one unit of each is bought every time
   */
  public SteadyShoppers(PipelineLab lab, SaleOffer... sales) {
    this.lab = lab;
    this.sales = List.of(sales);
  }

  public void start() {
    var unused = ticks.scheduleAtFixedRate(this::buy, EVERY_MS, EVERY_MS, TimeUnit.MILLISECONDS);
  }

  private void buy() {
    ShopClient shop = lab.shops().get((int) (next % lab.shops().size()));
    for (SaleOffer sale : sales) {
      var unused =
          shop.buyAsync(1_000_000 + next, sale.skuId(), 1, "steady-" + next)
              .exceptionally(failure -> null);
    }
    next++;
  }

  @Override
  public void close() {
    ticks.shutdownNow();
  }
}
