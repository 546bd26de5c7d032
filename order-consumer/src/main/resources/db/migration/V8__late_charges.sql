-- A provider may book a charge after it was asked what became of it: payments are looked at again until
-- that cannot be.
ALTER TABLE payment
  ADD COLUMN asked_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
    COMMENT 'when the provider was last asked to charge',
  ADD COLUMN check_at DATETIME(6) NULL
    COMMENT 'when the provider is next asked what became of it; NULL when the payment is over',
  ADD KEY ix_payment_check (check_at);

-- Also those that were declined: their orders may have ended, and nobody has looked since.
UPDATE payment SET check_at = NOW(6) WHERE state IN ('STARTED', 'DECLINED', 'REFUND_DUE');

-- For the rows of an order-consumer of the version before, which runs on for a while.
ALTER TABLE payment
  MODIFY check_at DATETIME(6) NULL DEFAULT CURRENT_TIMESTAMP(6)
    COMMENT 'when the provider is next asked what became of it; NULL when the payment is over';
