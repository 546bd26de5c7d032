package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.admission.AdmitRequests.AdmitRequest;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.verification.VerifiedServers;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AdmitRequestsTest {

  private static final long LOST = 7;
  private static final long WHOLE = 23; // of the same partition

  private final VerifiedServers servers = new VerifiedServers();
  private final AdmitRequests requests =
      new AdmitRequests(
          servers,
          TestPromises.withoutFallback(),
          Calls.IDS::next,
          sku -> null,
          List.of(),
          new Durability(Durability.Store.REDIS, 0, Duration.ZERO));
  private final Map<Long, Admission> answers = new HashMap<>();

  private Purchase purchase(long sku) {
    return new Purchase(
        new PurchaseAttempt(sku, 1, "key-0001", true, 1, null), answer -> answers.put(sku, answer));
  }

  /**
   * It arrived before an older replica was promoted, and its turn comes after that was verified
   * with the sale in quarantine.
   */
  @Test
  void aPurchaseThatWaitedWhileItsSaleWasQuarantinedIsNotSent() {
    List<Purchase> waiting = List.of(purchase(LOST), purchase(WHOLE));
    servers.quarantine(Set.of(LOST), 1);
    servers.verified(7, "promoted");

    AdmitRequest request = requests.of(waiting);

    assertThat(request).isNotNull();
    assertThat(request.server()).isEqualTo("promoted");
    assertThat(request.ids()).hasSize(1);
    assertThat(answers).containsExactly(Map.entry(LOST, Unknown.QUARANTINED));
  }

  @Test
  void nothingIsSentWhenAllWaitInQuarantine() {
    List<Purchase> waiting = List.of(purchase(LOST));
    servers.quarantine(Set.of(LOST), 1);
    servers.verified(7, "promoted");

    assertThat(requests.of(waiting)).isNull();
    assertThat(answers).containsExactly(Map.entry(LOST, Unknown.QUARANTINED));
  }
}
