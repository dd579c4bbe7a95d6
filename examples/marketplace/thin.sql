-- Gives orders away as the reference of fugu-noise.yaml: they leave the protected tables, with what belongs to them, and
-- from then on anybody may know them. As many are given of either class, a twentieth of all orders, chosen by chance: a
-- tenth of all orders, chosen by chance, would show everybody the share that is secret. Chance comes from md5 of the
-- key, so that each server chooses the same ones; with tables of your own use random().
CREATE TABLE orders_reference (LIKE orders);
CREATE TABLE order_item_reference (LIKE order_item);
CREATE TABLE payment_reference (LIKE payment);

INSERT INTO orders_reference
  SELECT o.* FROM orders o JOIN (
    SELECT id, row_number() OVER (PARTITION BY supplier = 'NORT01' ORDER BY md5('given ' || id)) AS place FROM orders) g
    USING (id)
  WHERE place <= (SELECT count(*) / 20 FROM orders);
INSERT INTO order_item_reference SELECT i.* FROM order_item i JOIN orders_reference r ON r.id = i.order_id;
INSERT INTO payment_reference SELECT p.* FROM payment p JOIN orders_reference r ON r.id = p.order_id;

-- Items and payments go with their orders. A row in both would be one that analysts know.
DELETE FROM orders o USING orders_reference r WHERE o.id = r.id;

GRANT SELECT ON orders_reference, order_item_reference, payment_reference TO fugu_reader, fugu_guest;
ANALYZE orders, order_item, payment, orders_reference, order_item_reference, payment_reference;
