-- What gateways tell shoppers about paying; order-consumer writes it at each start.
CREATE TABLE payment_terms (
  id         TINYINT NOT NULL,
  -- From storing an order to its expiry.
  timeout_ms BIGINT  NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT ck_payment_terms_one CHECK (id = 1)
) ENGINE = InnoDB;
