package io.seckill.system.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.system.shop.ShopTokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

class RequestsTest {

  private final Requests requests =
      new Requests(new ShopTokens("a secret of at least 32 characters"));

  @Test
  void announcesTheBodyItHas() {
    String purchase = new String(requests.purchase(1_000_000_007, 1001), StandardCharsets.US_ASCII);
    String[] parts = purchase.split("\r\n\r\n", -1);

    assertThat(parts[0]).contains("POST /api/v1/skus/1001/orders HTTP/1.1");
    assertThat(parts[0]).contains("Content-Length: " + parts[1].length());
    assertThat(parts[1]).isEqualTo("{\"quantity\":1}");
  }

  @Test
  void givesEveryUserAnotherTokenAndKeyOfTheSameLength() {
    byte[] one = requests.purchase(1_000_000_000, 1_000_001);
    byte[] other = requests.purchase(9_999_999_999L, 1_000_020);

    assertThat(one).hasSameSizeAs(other).isNotEqualTo(other);
    assertThat(Requests.key(1_000_000_000)).hasSize(36).isNotEqualTo(Requests.key(9_999_999_999L));
  }

  @Test
  void liesInAFileWhereCountingFindsIt() throws IOException {
    try (RequestFile file = RequestFile.write(3, i -> requests.purchase(1_000_000_000 + i, 1001))) {
      assertThat(Files.size(file.path())).isEqualTo(3L * file.length());
    }
  }

  @Test
  void isRefusedInAFileWhenOneIsLonger() {
    assertThatThrownBy(() -> RequestFile.write(2, i -> requests.purchase(1 + i * 10, 1001)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
