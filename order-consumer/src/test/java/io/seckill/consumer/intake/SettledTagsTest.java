package io.seckill.consumer.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SettledTagsTest {

  private final SettledTags settled = new SettledTags();

  @Test
  void acksABatchTogetherWhenNothingBelowItIsUnsettled() {
    assertThat(settled.add(new long[] {1, 2, 3})).isEqualTo(3);
    assertThat(settled.add(new long[] {4, 5})).isEqualTo(2);
  }

  @Test
  void neverReachesBeyondAnUnsettledDelivery() {
    assertThat(settled.add(new long[] {1, 3, 4})).isEqualTo(1);
    assertThat(settled.add(new long[] {5})).isZero();
  }

  @Test
  void passesWhatWasSettledAloneOnceTheGapIsClosed() {
    settled.add(new long[] {2, 3, 5});

    assertThat(settled.add(new long[] {1})).isEqualTo(1);
    assertThat(settled.add(new long[] {4, 6, 8})).isEqualTo(2);
  }

  @Test
  void needsNoMemoryForEachDeliveryAboveAnUnsettledOne() {
    for (long tag = 2; tag < 100_000; tag += 2) {
      settled.add(new long[] {tag, tag + 1});
    }
    settled.add(new long[] {100_001});

    assertThat(settled.runs()).isEqualTo(2);
    assertThat(settled.add(new long[] {1, 100_000, 100_002})).isEqualTo(3);
    assertThat(settled.runs()).isZero();
  }

  /** A broker that settles everything up to a multiple ack never settles what was not added. */
  @Test
  void settlesExactlyWhatWasAddedInAnyOrder() {
    for (int seed = 0; seed < 200; seed++) {
      List<Long> order = new ArrayList<>();
      for (long tag = 1; tag <= 60; tag++) {
        order.add(tag);
      }
      Random random = new Random(seed);
      Collections.shuffle(order.subList(0, random.nextInt(1, 60)), random);
      SettledTags tags = new SettledTags();
      TreeSet<Long> added = new TreeSet<>();
      for (int at = 0; at < order.size(); ) {
        int end = Math.min(order.size(), at + random.nextInt(1, 9));
        long[] batch = order.subList(at, end).stream().mapToLong(tag -> tag).sorted().toArray();
        for (long tag : batch) {
          added.add(tag);
        }
        int together = tags.add(batch);
        if (together > 0) {
          assertThat(added.headSet(batch[together - 1], true))
              .as("settled by the multiple ack, seed %d", seed)
              .hasSize((int) batch[together - 1]);
        }
        at = end;
      }
    }
  }
}
