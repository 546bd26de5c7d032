package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.stage.OrderSteps.Step;
import io.seckill.system.load.LoadAnswer;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** The steps of orders that their shoppers and MySQL see. */
final class StepsOfRows implements ClickToRow.Observer {

  private final OrderSteps steps;
  private final LongSupplier clock;

  /**
   * @param clock in µs, as steady as System.nanoTime
   */
  StepsOfRows(OrderSteps steps, LongSupplier clock) {
    this.steps = steps;
    this.clock = clock;
  }

  @Override
  public void answered(LoadAnswer answer) {
    if (answer.status() == 202 && !answer.orderId().isEmpty()) {
      long id = Long.parseLong(answer.orderId());
      long sinceDue = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - answer.dueNanos());
      long due = clock.getAsLong() - sinceDue;
      steps.reached(id, Step.DUE, due);
      steps.reached(id, Step.ANSWERED, due + TimeUnit.NANOSECONDS.toMicros(answer.latencyNanos()));
    }
  }

  @Override
  public void visible(List<Long> orderIds) {
    long now = clock.getAsLong();
    orderIds.forEach(id -> steps.reached(id, Step.VISIBLE, now));
  }

  @Override
  public void stored(StoredRows database, BenchSale sale) throws SQLException {
    database
        .insertedMicros(sale)
        .forEach((id, micros) -> steps.reached(id, Step.DELIVERED, micros));
  }
}
