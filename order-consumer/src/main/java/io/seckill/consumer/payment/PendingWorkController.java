package io.seckill.consumer.payment;

import java.util.Map;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The work that waits in MySQL, for the operations page, on the internal port. */
@RestController
record PendingWorkController(PendingWork work) {

  @GetMapping("/internal/v1/pending-work")
  Map<PendingWork.Kind, PendingWork.Pending> pendingWork() {
    return work.now();
  }
}
