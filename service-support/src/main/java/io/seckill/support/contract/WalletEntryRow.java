package io.seckill.support.contract;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonSerialize;
import tools.jackson.databind.ser.std.ToStringSerializer;

/**
 * An entry of a wallet; it never changes.
 *
 * @param seq 1, 2, 3 … of the user, without a gap
 * @param amountCents signed change of the balance
 * @param chargeId of CHARGE and REFUND
 */
public record WalletEntryRow(
    long seq,
    WalletKind kind,
    long amountCents,
    long balanceAfterCents,
    String requestId,
    @JsonSerialize(using = ToStringSerializer.class) @Nullable Long chargeId,
    @Nullable String reason,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant createdAt) {}
