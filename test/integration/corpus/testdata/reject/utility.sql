-- from: COPY
COPY orders TO STDOUT;

-- from: COPY
COPY orders (amount, note) TO STDOUT WITH (FORMAT csv);

-- from: COPY
COPY (SELECT amount FROM orders) TO STDOUT;

-- from: COPY
COPY (SELECT * FROM orders WHERE id = 1) TO STDOUT (FORMAT binary);

-- from: COPY
COPY orders FROM '/tmp/x';

-- from: COPY to the server
COPY (SELECT count(*) FROM orders) TO '/tmp/x';

-- from: COPY to a program
COPY (SELECT count(*) FROM orders) TO PROGRAM 'cat';

-- from: LOCK
BEGIN;
LOCK TABLE orders IN ACCESS SHARE MODE;

-- from: DML
INSERT INTO orders (id) VALUES (1);

-- from: DML
UPDATE orders SET amount = 0;

-- from: DML
DELETE FROM orders WHERE id = 1 RETURNING *;

-- from: DML
MERGE INTO orders o USING products p ON p.id = o.product_id WHEN MATCHED THEN DELETE;

-- from: DML, a cut that is returned
UPDATE orders SET amount = 1 RETURNING (SELECT count(*) FROM orders);

-- from: DML in a WITH
WITH d AS (DELETE FROM orders RETURNING 1) SELECT count(*) FROM d;

-- from: TRUNCATE
TRUNCATE orders;

-- from: DDL
ALTER TABLE orders ADD x int;

-- from: DDL
ALTER TABLE orders RENAME TO x;

-- from: DDL
DROP TABLE orders;

-- from: DDL
DROP TABLE IF EXISTS public.orders CASCADE;

-- from: DDL
CREATE INDEX ON orders (amount) WHERE is_paid;

-- from: DDL
CREATE VIEW x AS SELECT count(*) FROM orders;

-- from: DDL
CREATE TEMP VIEW x AS SELECT amount FROM orders;

-- from: DDL
CREATE MATERIALIZED VIEW x AS SELECT count(*) FROM orders;

-- from: DDL
CREATE TEMP TABLE x (LIKE orders);

-- from: DDL
CREATE TEMP TABLE x () INHERITS (orders);

-- from: DDL
CREATE STATISTICS x ON status, channel FROM orders;

-- from: DDL
CREATE RULE x AS ON SELECT TO orders DO INSTEAD SELECT 1;

-- from: DDL
CREATE POLICY x ON orders USING (true);

-- from: DDL
CREATE TRIGGER x AFTER INSERT ON orders EXECUTE FUNCTION f();

-- from: DDL
COMMENT ON TABLE orders IS 'x';

-- from: DDL
GRANT SELECT ON orders TO PUBLIC;

-- from: DDL
REVOKE ALL ON orders FROM fugu_reader;

-- from: DDL
CREATE PUBLICATION x FOR TABLE orders;

-- from: maintenance
VACUUM orders;

-- from: maintenance
ANALYZE orders;

-- from: maintenance
CLUSTER orders;

-- from: maintenance
REINDEX TABLE orders;

-- from: a function with a body
CREATE FUNCTION pg_temp.f() RETURNS int8 LANGUAGE sql AS $$ SELECT count(*) FROM orders $$;
SELECT pg_temp.f();

-- from: a function with a body of SQL
CREATE FUNCTION pg_temp.f() RETURNS int8 LANGUAGE sql RETURN (SELECT count(*) FROM orders);

-- from: DO
DO $$ BEGIN PERFORM count(*) FROM orders; END $$;

-- from: EXPLAIN
EXPLAIN SELECT count(*) FROM orders;

-- from: EXPLAIN
EXPLAIN ANALYZE SELECT count(*) FROM orders WHERE is_paid;

-- from: EXPLAIN
EXPLAIN (VERBOSE, FORMAT JSON) SELECT * FROM orders;

-- from: EXPLAIN
EXPLAIN (PRIVACY) SELECT * FROM orders;

-- from: EXPLAIN of what is prepared
PREPARE q AS SELECT code FROM countries;
EXPLAIN (PRIVACY, ANALYZE) SELECT count(*) FROM orders;

-- from: NOTIFY with what a cut says
SELECT pg_notify('x', (SELECT amount FROM orders LIMIT 1)::text);

-- from: a cursor for update
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM orders FOR UPDATE;

-- from: a cursor function
SELECT * FROM cursor_to_xml('c', 1, true, false, (SELECT note FROM orders LIMIT 1));

-- from: a table as a function's argument
SELECT table_to_xml('orders', true, false, '');

-- from: a query as text
SELECT query_to_xml('SELECT * FROM orders', true, false, '');

-- from: a query as text
SELECT * FROM ts_stat('SELECT to_tsvector(note) FROM orders');

-- from: large objects
SELECT lo_import('/etc/passwd'), 'orders';

-- from: files
SELECT pg_read_file('PG_VERSION'), 'orders';

-- from: roles
SET ROLE fugu_reader;

-- from: roles
SET SESSION AUTHORIZATION fugu_reader;

-- from: settings of Fugu's
SET fugu.epsilon = 'much';

-- from: settings of Fugu's
SET fugu.epsilon = -1;

-- from: settings of Fugu's
SET fugu.nothing = 1;

-- from: settings of Fugu's
SET fugu.mechanism = 'none';

-- from: settings of Fugu's
SET fugu.epsilon = 1000;
SELECT count(*) FROM orders;

-- from: virtual tables
DELETE FROM fugu.budget;

-- from: virtual tables
SELECT * FROM fugu.nothing;

-- from: syntax
SELECT count(*) FROM orders WHERE;

-- from: syntax
SELEC count(*) FROM orders;

-- from: syntax
SELECT count(*) FROM orders); DROP TABLE orders; --;
