-- A shop with history: 160,000 orders, 120,000 of them of SKU 1, 20,000 of one user and
-- 10,000 older ones of another; sales of years ago, of which
-- some were never closed; work that waits in every queue. Runs on MySQL and MariaDB.
-- Unchecked, MariaDB builds an index once instead of entry by entry.
SET SESSION unique_checks = 0, foreign_key_checks = 0;
CREATE TABLE digit (d INT NOT NULL);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE n (i INT NOT NULL PRIMARY KEY);
INSERT INTO n SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d
  FROM digit a, digit b, digit c, digit e, digit f, digit g WHERE g.d < 2 AND (g.d = 0 OR f.d < 6);

INSERT INTO products (sku_id, name, price_cents, stock, initial_stock, policy, limit_per_user, opens_at, closes_at, state,
  epoch, last_seq, settled, decides, fallback)
  SELECT IF(i < 500, i + 1, 10000 + i), 'thing', 100, 1000, 200000,
    CASE WHEN i = 0 THEN 'ONE_PER_USER' WHEN i = 1 THEN 'UNLIMITED' ELSE 'LIMITED' END, IF(i = 0, 1, 10),
    NOW(3) + INTERVAL IF(i < 50, -1, IF(i < 100, 5, -2 - i DIV 10)) DAY,
    NOW(3) + INTERVAL IF(i < 50, 1, IF(i < 100, 6, -1 - i DIV 10)) DAY,
    CASE WHEN i < 50 THEN 'OPEN' WHEN i < 80 THEN 'PREHEATED' WHEN i < 100 THEN 'NEW' WHEN i % 10 = 0 THEN 'OPEN'
      WHEN i % 10 = 1 THEN 'PREHEATED' WHEN i % 10 = 2 THEN 'PAUSED' ELSE 'CLOSED' END,
    1, 100, 100, IF(i % 50 = 3, 'MYSQL', 'REDIS'), IF(i IN (3, 53), 'ACTIVE', 'NO')
  FROM n WHERE i < 5000;

INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id, status, reason, single_buyer, epoch,
  seq, admitted_at, created_at)
  SELECT 1000000 + i, CASE WHEN i >= 140000 THEN 7 WHEN i % 14 = 6 THEN 8 ELSE 100000 + i END, CASE WHEN i >= 140000 THEN 2 WHEN i % 7 < 6 THEN 1 ELSE 3 + i % 490 END,
    1, 100, CONCAT('k', i), status, IF(status = 'REJECTED', 'SOLD_OUT', NULL),
    IF(i < 140000 AND i % 7 < 6 AND status IN ('CONFIRMED', 'PAID'), 100000 + i, NULL), 1, i, created_at, created_at
  FROM (SELECT i, NOW(6) - INTERVAL 160000 - i SECOND AS created_at,
    CASE WHEN i % 10 < 2 THEN 'CANCELLED' WHEN i % 10 = 2 THEN 'EXPIRED' WHEN i % 10 = 3 THEN 'REJECTED'
      WHEN i % 10 = 4 AND i > 120000 THEN 'CONFIRMED' ELSE 'PAID' END AS status FROM n ORDER BY i) o;

INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units)
  SELECT sku_id, user_id, 1, 10 FROM orders WHERE status IN ('CONFIRMED', 'PAID') AND sku_id <> 2
  GROUP BY sku_id, user_id;
INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units, created_at, done_at)
  SELECT order_id, sku_id, user_id, 1, 1, 1, created_at, IF(seq % 200 = 1, NULL, created_at) FROM orders
  WHERE status IN ('CANCELLED', 'EXPIRED', 'REJECTED');
INSERT INTO order_total
  SELECT p.sku_id, f.fate, 100, 100 FROM products p,
    (SELECT 'CONFIRMED' AS fate UNION SELECT 'PAID' UNION SELECT 'CANCELLED' UNION SELECT 'REJECTED') f;
INSERT INTO payment (order_id, amount_cents, state, charge_id, created_at, updated_at, asked_at, check_at)
  SELECT order_id, 100, CASE WHEN status = 'PAID' THEN 'CHARGED' WHEN seq % 50 = 1 THEN 'REFUND_DUE' ELSE 'REFUNDED' END,
    CONCAT('sim-', order_id), created_at, created_at + INTERVAL 1 MINUTE, created_at,
    IF(status <> 'PAID' AND seq % 50 = 1, NOW(6) - INTERVAL 1 SECOND, NULL)
  FROM orders WHERE status = 'PAID' OR (status = 'CANCELLED' AND seq % 3 = 0);
INSERT INTO payment_charge (charge_id, order_id) SELECT charge_id, order_id FROM payment;
INSERT INTO simulated_charge (order_id, amount_cents, state) SELECT order_id, 100, 'CHARGED' FROM payment LIMIT 20000;
INSERT INTO order_alias (order_id, stored_order_id) SELECT 5000000 + i, 1000000 + i FROM n WHERE i < 10000;

INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, payload_bytes, reason, detail, attempts,
  first_failed_at, last_failed_at, state, resolved_at)
  SELECT 6000000 + i, IF(i % 2 = 0, 1, 3 + i % 490), i, CONCAT('{"quantity":1,"i":', i, '}'), UNHEX(SHA2(i, 256)), 30, 'OTHER',
    'x', 1, NOW(3), NOW(3), CASE WHEN i % 500 = 0 THEN 'OPEN' WHEN i % 5 = 0 THEN 'REPLAYED' ELSE 'DISCARDED' END,
    IF(i % 500 = 0, NULL, NOW(6) - INTERVAL IF(i % 2 = 0, 100, 1) DAY)
  FROM n WHERE i < 20000;
-- A bad day of a sale that is to come again.
INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, payload_bytes, reason, detail, attempts,
  first_failed_at, last_failed_at)
  SELECT 7000000 + i, 100, i, CONCAT('{"quantity":1,"i":', i, '}'), UNHEX(SHA2(7000000 + i, 256)), 30, 'OTHER', 'x', 1, NOW(3),
    NOW(3) FROM n WHERE i < 5000;
-- Most of those that were replayed have been stored.
INSERT INTO order_alias (order_id, stored_order_id)
  SELECT order_id, 1000000 FROM dead_letter WHERE state = 'REPLAYED' AND order_id % 10 < 9;
INSERT INTO dead_letter_rest (letter_id, part, bytes) SELECT 1 + i DIV 3, i % 3, 'x' FROM n WHERE i < 3000;
INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)
  SELECT IF(i < 20, 1, 1 + i % 500), CONCAT('c', i), 10, 'x', 'a', 1, IF(i % 1000 = 0, 'PENDING', 'DONE') FROM n WHERE i < 20000;
-- Moves of units to and from a shard of SKU 1.
INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)
  SELECT (1 << 52) + 17, CONCAT('move-', i), IF(i % 2 = 0, 10, -10), 'x', 'shards', 1, 'DONE' FROM n WHERE i < 20000;
INSERT INTO reconciliation (sku_id, started_by, dry_run, outcome, detail, epoch, findings, started_at)
  SELECT IF(i % 2 = 0, 1, 1 + i % 500), 'schedule', FALSE, 'REPAIRED', 'x', 1, 1, NOW(6) - INTERVAL 20000 - i MINUTE
  FROM n WHERE i < 20000 ORDER BY i;
INSERT INTO repair (reconciliation_id, kind, subject, found, wanted, made)
  SELECT id, 'STOCK', '1', '1', '2', TRUE FROM reconciliation;
INSERT INTO barrier (raised_at, passed_at)
  SELECT NOW(6) - INTERVAL 86450 - i SECOND, NOW(6) FROM n WHERE i < 86400 ORDER BY i;
INSERT INTO daily_audit
  SELECT CURRENT_DATE - INTERVAL 1 + i DIV 100 DAY, 1 + i % 100, 'CLOSED', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, '',
    NOW(6) FROM n WHERE i < 40000;
INSERT INTO admitted_units (sku_id, epoch, units, unknown_orders) SELECT 10000 + i, 1, 1, i < 3 FROM n WHERE i < 5000;
INSERT INTO unexplained_charge (report_hash, kind, charge_id, order_id, amount_cents, reason, detail, state)
  SELECT UNHEX(SHA2(i, 256)), 'CHARGED', CONCAT('odd-', i), i, 100, 'UNKNOWN_ORDER', '', IF(i % 200 = 7, 'OPEN', 'CLOSED')
  FROM n WHERE i < 20000;
INSERT INTO gateway_node (token, name, mode, term, redis_usable, for_ms, breaker, failure_percent, failures_per_second,
  heard_at) SELECT CONCAT('t', i), 'gateway', 'off', 1, TRUE, 1, 'CLOSED', 1, 1, NOW(6) FROM n WHERE i < 20;
INSERT INTO redis_server SELECT i, REPEAT('a', 40), NOW(3) FROM n WHERE i < 16;
INSERT INTO payment_terms VALUES (1, 1800000);

-- Archived sales: 20,000 orders of SKU 9001 among 40,000, 20,000 of them of user 7.
INSERT INTO order_history SELECT 8000000 + i, IF(i % 2 = 0, 7, 100000 + i), IF(i < 20000, 9001, 9002 + i % 500), 1, 100,
  CONCAT('k', i), 'PAID', NULL, 1, i, NOW(3), NOW(6), NOW(6) FROM n WHERE i < 40000;
INSERT INTO payment_history SELECT order_id, 100, 'CHARGED', CONCAT('old-', order_id), NOW(6), NOW(6) FROM order_history;
INSERT INTO order_alias_history SELECT 9000000 + i, 8000000 + i, NOW(6) FROM n WHERE i < 10000;
INSERT INTO archive (sku_id, phase, started_by, started_at, orders, done_at) SELECT 9000 + i, IF(i < 5, 'ORDERS',
  IF(i < 2500, 'DONE', 'PURGED')), 'a', NOW(6), 7, IF(i < 5, NULL, NOW(6) - INTERVAL i DAY) FROM n WHERE i < 5000;
INSERT INTO payment_event SELECT CONCAT('e', i), i, NOW(6) - INTERVAL i MINUTE FROM n WHERE i < 60000;

-- Wallets of 40,000 users, three entries each, and 10,000 of user 7; a quarter of them has entries that no check has read.
INSERT INTO wallet (user_id, balance_cents, seq, verified_seq, state)
  SELECT 100000 + i, 100, 3, IF(i % 4 = 1, 0, 3), 'ACTIVE' FROM n WHERE i < 40000;
INSERT INTO wallet (user_id, balance_cents, seq, verified_seq, state) VALUES (7, 10000, 10000, 0, 'ACTIVE');
INSERT INTO wallet_entry SELECT 100000 + i DIV 3, 1 + i % 3, 'RECHARGE', 1, 1 + i % 3, CONCAT('k', i % 3), NULL, NULL, NOW(6)
  FROM n WHERE i < 120000;
INSERT INTO wallet_entry SELECT 7, 1 + i, 'RECHARGE', 1, 1 + i, CONCAT('k', i), NULL, NULL, NOW(6) FROM n WHERE i < 10000;
INSERT INTO wallet_check VALUES (1, NOW(6), TRUE, 1, 1, 0, '');
INSERT INTO wallet_charge SELECT 1000000 + i, 100000 + i, 100, 0, FALSE FROM n WHERE i < 100000;

-- Flyway's, which has not made the tables here.
CREATE TABLE flyway_schema_history (installed_rank INT NOT NULL PRIMARY KEY, success BOOLEAN NOT NULL);
INSERT INTO flyway_schema_history SELECT 1 + i, i > 0 FROM n WHERE i < 33;

DROP TABLE n, digit;
SET SESSION unique_checks = 1, foreign_key_checks = 1;
