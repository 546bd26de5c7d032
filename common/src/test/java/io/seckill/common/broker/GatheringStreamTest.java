package io.seckill.common.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.GatheringSockets.GatheringStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class GatheringStreamTest {

  private final ByteArrayOutputStream network = new ByteArrayOutputStream();
  private final GatheringStream stream = new GatheringStream(network);

  @Test
  void sendsAtAFlushUnlessItHoldsBack() throws IOException {
    stream.write(new byte[] {1, 2});
    stream.flush();

    assertThat(network.toByteArray()).containsExactly(1, 2);
  }

  @Test
  void keepsWhatIsWrittenAndFlushedUntilTheRelease() throws IOException {
    stream.holdBack();
    stream.write(new byte[] {1, 2});
    stream.flush();
    stream.write(3);
    assertThat(network.size()).isZero();

    stream.release();

    assertThat(network.toByteArray()).containsExactly(1, 2, 3);
  }

  @Test
  void keepsTheOrderWhenThereIsMoreThanItCanKeep() throws IOException {
    byte[] big = new byte[80 * 1024];
    Arrays.fill(big, (byte) 7);
    stream.holdBack();
    stream.write(1);
    stream.write(big);
    stream.write(2);

    stream.release();

    byte[] sent = network.toByteArray();
    assertThat(sent).hasSize(big.length + 2).startsWith(1, 7).endsWith(7, 2);
  }
}
