-- Who may do what in MySQL. A template: scripts/up puts the passwords in. Harmless when repeated.
-- The services' connections are limited for each user, above their pools: connections whose COMMIT waits for a standby, and
-- which a service has given up, never keep the standby from logging in.
CREATE DATABASE IF NOT EXISTS seckill CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- Owns the tables: Flyway at start, and people.
CREATE USER IF NOT EXISTS 'seckill_owner'@'%';
ALTER USER 'seckill_owner'@'%' IDENTIFIED BY '@OWNER@';
GRANT ALL PRIVILEGES ON seckill.* TO 'seckill_owner'@'%';

-- order-consumer writes rows, and cannot change a table.
CREATE USER IF NOT EXISTS 'seckill_consumer'@'%';
ALTER USER 'seckill_consumer'@'%' IDENTIFIED BY '@CONSUMER@' WITH MAX_USER_CONNECTIONS 288;
GRANT SELECT, INSERT, UPDATE, DELETE ON seckill.* TO 'seckill_consumer'@'%';

-- The gateway reads.
CREATE USER IF NOT EXISTS 'seckill_gateway'@'%';
ALTER USER 'seckill_gateway'@'%' IDENTIFIED BY '@GATEWAY@' WITH MAX_USER_CONNECTIONS 240;
GRANT SELECT ON seckill.* TO 'seckill_gateway'@'%';
