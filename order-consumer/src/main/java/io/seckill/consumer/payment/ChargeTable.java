package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code payment_charge}: the order that each charge was first reported for. */
@Component
record ChargeTable(JdbcClient jdbc) {

  /**
   * Records charges that no report has named before, in the caller's transaction; another
   * transaction with one of them waits for its end.
   *
   * @param reported order of each charge, at least one
   * @return charges that were known before, with their orders; empty if none was
   */
  Map<String, OrderId> claim(Map<String, OrderId> reported) {
    List<Object> values = new ArrayList<>();
    new TreeMap<>(reported).forEach((charge, id) -> values.addAll(List.of(charge, id.value())));
    int inserted =
        jdbc.sql(
                "INSERT INTO payment_charge (charge_id, order_id) VALUES "
                    + Sql.repeated("(?, ?)", reported.size())
                    + " ON DUPLICATE KEY UPDATE order_id = payment_charge.order_id")
            .params(values)
            .update();
    return inserted == reported.size() ? Map.of() : owners(reported);
  }

  private Map<String, OrderId> owners(Map<String, OrderId> reported) {
    return jdbc.sql("SELECT charge_id, order_id FROM payment_charge WHERE charge_id IN (:charges)")
        .param("charges", reported.keySet())
        .query(Sql.map(row -> row.getString(1), row -> new OrderId(row.getLong(2))));
  }
}
