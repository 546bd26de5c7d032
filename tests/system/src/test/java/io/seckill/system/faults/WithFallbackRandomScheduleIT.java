package io.seckill.system.faults;

import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import java.util.List;
import org.junit.jupiter.api.Tag;

/** The random schedule where MySQL decides while Redis cannot. */
@OnChannel(fallback = "automatic")
@Tag("proof")
class WithFallbackRandomScheduleIT extends RandomScheduleIT {

  private final FaultLab lab;

  WithFallbackRandomScheduleIT(FaultLab lab) {
    super(lab);
    this.lab = lab;
  }

  /** Only Redis has the keys of what a gateway promised last that dies with it. */
  @Override
  void begin(FaultRun run) {
    run.load().expectLoss();
    run.begin(0);
  }

  @Override
  void judge(FaultRun run) {
    run.judge(Guarantee.afterFallback(), List.of(new LedgerBalances(lab.admin())));
    run.sales().forEach(sale -> lab.admin().close(sale.skuId()));
  }
}
