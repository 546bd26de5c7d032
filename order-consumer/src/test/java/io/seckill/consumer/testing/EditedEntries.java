package io.seckill.consumer.testing;

import java.util.ArrayList;
import java.util.List;

/** Changes entries of wallets as their owner can, who may drop the triggers that refuse it. */
public final class EditedEntries {

  private EditedEntries() {}

  /** Executes a statement without the triggers; returns the number of changed rows. */
  public static int update(TestConsumer consumer, String statement, Object... params) {
    List<String> triggers = new ArrayList<>();
    for (String name : names(consumer)) {
      triggers.add(
          consumer
              .sql()
              .sql("SHOW CREATE TRIGGER " + name)
              .query((row, number) -> row.getString("SQL Original Statement"))
              .single());
      consumer.update("DROP TRIGGER " + name);
    }
    try {
      return consumer.update(statement, params);
    } finally {
      triggers.forEach(consumer::asRoot);
    }
  }

  private static List<String> names(TestConsumer consumer) {
    return consumer
        .sql()
        .sql(
            "SELECT trigger_name FROM information_schema.triggers"
                + " WHERE trigger_schema = DATABASE() AND event_object_table = 'wallet_entry'")
        .query(String.class)
        .list();
  }
}
