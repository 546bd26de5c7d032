-- A user's orders, newest first: a page costs by what it shows, and not by what the user ever bought.
ALTER TABLE orders ADD KEY ix_orders_user (user_id, order_id);
