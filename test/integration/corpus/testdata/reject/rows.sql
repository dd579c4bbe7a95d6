-- from: rows
SELECT * FROM orders;

-- from: rows
SELECT id, amount FROM orders WHERE id = 7;

-- from: rows
TABLE orders;

-- from: rows
SELECT amount FROM orders ORDER BY amount DESC LIMIT 1;

-- from: rows
SELECT 1 FROM orders;

-- from: rows
SELECT FROM orders;

-- from: rows
SELECT o FROM orders o;

-- from: rows
SELECT o.* FROM orders o LIMIT 0;

-- from: rows
SELECT row_to_json(o) FROM orders o;

-- from: rows
SELECT (o).amount FROM orders o;

-- from: rows, through a CTE
WITH x AS (SELECT amount FROM orders) SELECT * FROM x;

-- from: rows, through a materialized CTE
WITH x AS MATERIALIZED (SELECT amount FROM orders WHERE is_paid) SELECT amount FROM x LIMIT 3;

-- from: rows, through a derived table
SELECT * FROM (SELECT amount FROM orders) t;

-- from: rows, a window function over rows
SELECT amount, row_number() OVER (ORDER BY amount) FROM orders;

-- from: rows, an aggregate as a window function
SELECT sum(amount) OVER () FROM orders;

-- from: rows, DISTINCT ON
SELECT DISTINCT ON (status) status, amount FROM orders ORDER BY status, amount;

-- from: rows, in a set operation
SELECT code FROM countries UNION SELECT note FROM orders;

-- from: rows, in a set operation with a cut
SELECT count(*) FROM orders UNION ALL SELECT quantity FROM orders;

-- from: rows, in a scalar subquery
SELECT (SELECT amount FROM orders WHERE id = 1);

-- from: rows, in IN
SELECT name FROM products WHERE id IN (SELECT product_id FROM orders WHERE amount > 400);

-- from: rows, in EXISTS
SELECT 1 WHERE EXISTS (SELECT FROM orders WHERE amount > 499);

-- from: rows, in ARRAY
SELECT ARRAY(SELECT amount FROM orders);

-- from: rows, joined
SELECT p.name, o.amount FROM products p JOIN orders o ON o.product_id = p.id;

-- from: rows, lateral
SELECT c.name, l.amount FROM countries c, LATERAL (SELECT amount FROM orders WHERE country = c.code LIMIT 1) l;

-- from: rows, recursive
WITH RECURSIVE r AS (SELECT quantity FROM orders UNION SELECT quantity + 1 FROM r WHERE quantity < 3) SELECT * FROM r;

-- from: rows, inserted
CREATE TEMP TABLE x (a numeric);
INSERT INTO x SELECT amount FROM orders;

-- from: rows, inserted one
CREATE TEMP TABLE x (a numeric);
INSERT INTO x VALUES ((SELECT amount FROM orders LIMIT 1));

-- from: rows, in UPDATE ... FROM
CREATE TEMP TABLE x (a numeric, i int8);
UPDATE x SET a = o.amount FROM orders o WHERE o.id = x.i;

-- from: rows, in DELETE ... USING
CREATE TEMP TABLE x (i int8);
DELETE FROM x USING orders o WHERE o.id = x.i;

-- from: rows, in MERGE
CREATE TEMP TABLE x (i int8);
MERGE INTO x USING orders o ON o.id = x.i WHEN NOT MATCHED THEN INSERT VALUES (o.id);

-- from: rows, in CREATE TABLE AS
CREATE TEMP TABLE x AS SELECT amount FROM orders;

-- from: rows, in SELECT INTO
SELECT amount INTO TEMP x FROM orders;

-- from: rows, of an inheritance child's kind
SELECT amount FROM ONLY orders;

-- from: rows, a cursor
BEGIN;
DECLARE c CURSOR FOR SELECT amount FROM orders;

-- from: rows, prepared
PREPARE q AS SELECT amount FROM orders;

-- from: rows of a view over a protected table
SELECT amount FROM paid_orders;

-- from: rows, generate_series over a column
SELECT generate_series(1, quantity) FROM orders;

-- from: rows, unnest of an aggregate's argument
SELECT unnest(ARRAY[quantity]) FROM orders;

-- from: rows, VALUES with a row subquery
SELECT ROW(1, 2) = (SELECT status, channel FROM orders LIMIT 1);
