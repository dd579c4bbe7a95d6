-- A database whose protected rows the tests fill for one world or the other; both worlds have this one's identifiers.
CREATE TABLE customer (
  id int, income text, region text, age int, visits int, spend numeric, bonus int,  -- what analysts ask about
  divisor int, code text, spike float8, joined date, note text,                     -- what trips up careless expressions
  serial int);                                                                       -- what tells every row from all others
CREATE TABLE customer_reference (LIKE customer);
CREATE TABLE plain (region text, weight int);                                       -- ordinary
CREATE INDEX customer_income ON customer (income);
GRANT SELECT ON customer, customer_reference, plain TO fugu_reader;
GRANT SELECT ON customer, customer_reference TO fugu_open;  -- a guest whose grants fugu check objects to
GRANT SELECT, INSERT, UPDATE, DELETE ON plain TO fugu_guest, fugu_open;
GRANT SELECT ON customer_reference TO fugu_guest;
GRANT INSERT, UPDATE, DELETE ON customer_reference TO fugu_open;
GRANT CREATE ON SCHEMA public TO fugu_guest, fugu_open;         -- analysts may plant what they like
GRANT CREATE, TEMPORARY ON DATABASE base TO fugu_guest, fugu_open;

-- A number that nobody can tell from a random one.
CREATE FUNCTION scattered(what text, i int) RETURNS int LANGUAGE sql AS $$ SELECT ('x' || substr(md5(what || i), 1, 7))::bit(28)::int $$;

-- 2000 rows, of which the first many have a high income. In each class, every 100 rows in order are alike, so that worlds
-- whose classes are multiples of 100 differ in the secret proportion and in nothing else.
CREATE FUNCTION people(many int) RETURNS SETOF customer LANGUAGE sql AS $$
  SELECT i, CASE WHEN high THEN 'high' ELSE 'low' END,
    CASE WHEN j < CASE WHEN high THEN 10 ELSE 40 END THEN 'north' WHEN j < CASE WHEN high THEN 30 ELSE 70 END THEN 'east'
         WHEN j < CASE WHEN high THEN 60 ELSE 90 END THEN 'south' ELSE 'west' END,
    CASE WHEN high THEN 40 ELSE 30 END + j % 20, CASE WHEN high THEN 5 ELSE 1 END + j % 7,
    CASE WHEN high THEN 80 ELSE 20 END + j % 40 + 0.5, NULL::int,
    1 + j % 5, (j % 10)::text, 1.0 + j % 3, date '2020-01-01' + j, CASE WHEN high THEN repeat('x', 300) ELSE 'x' END,
    scattered('customer', i)
  FROM generate_series(0, 1999) i, LATERAL (SELECT i < many, (CASE WHEN i < many THEN i ELSE i - many END) % 100) AS c(high, j)
$$;
CREATE FUNCTION refer() RETURNS void LANGUAGE sql AS $$
  TRUNCATE customer_reference;
  INSERT INTO customer_reference SELECT * FROM people(400);
  UPDATE customer_reference SET bonus = 100 WHERE id % 100 = 7;  -- so that the model can speak of bonuses
  UPDATE customer_reference SET region = 'remote' WHERE id IN (399, 1999);
  UPDATE customer_reference SET serial = scattered('reference', id);
  DELETE FROM customer_reference WHERE id IN (396, 397, 398);    -- so that no expectation is an integer
$$;
SELECT refer();
-- A reference each of whose rows can be told from all others.
CREATE TABLE strangers (LIKE customer);
INSERT INTO strangers SELECT * FROM customer_reference;
UPDATE strangers SET spike = spike + (id + 1) * 1e-6;
-- A small one.
CREATE TABLE few (LIKE customer);
INSERT INTO few SELECT * FROM customer_reference WHERE id % 4 = 0;
-- One of half the size.
CREATE TABLE half (LIKE customer);
INSERT INTO half SELECT * FROM customer_reference WHERE id % 2 = 0;
-- A large one.
CREATE TABLE many (LIKE customer);
INSERT INTO many SELECT c.* FROM generate_series(1, 20), people(400) c;
UPDATE many SET note = '', serial = scattered('many' || ctid::text, id);
-- One in which days are drawn for each row by itself.
CREATE TABLE uneven (LIKE customer);
INSERT INTO uneven SELECT * FROM customer_reference;
UPDATE uneven SET joined = date '2020-01-01' + scattered('day', id) % 100;
-- Ordinary tables that somebody has fitted to references: for each day on which high incomes joined, four remainders of
-- serial numbers that none of them has; and whether all of them have high ones.
CREATE TABLE sorts AS SELECT income, joined AS day, bool_and(serial >= 53687091) AS above FROM uneven WHERE income = 'high' GROUP BY income, joined;
CREATE TABLE fits AS
SELECT income, joined AS day, free[1] AS a, free[2] AS b, free[3] AS c, free[4] AS d FROM (
  SELECT income, joined, ARRAY(SELECT r FROM generate_series(0, 7) r WHERE r <> ALL (array_agg(serial % 8)) ORDER BY r) AS free
  FROM customer_reference WHERE income = 'high' GROUP BY income, joined) f;
GRANT SELECT ON uneven, sorts, fits TO fugu_reader, fugu_guest, fugu_open;
GRANT SELECT ON strangers, few, half, many TO fugu_reader, fugu_guest, fugu_open;
INSERT INTO plain VALUES ('north', 1), ('east', 2), ('south', 3), ('west', 4), ('remote', 5);

-- Rows that only the world of 500 has: its first beyond 400.
CREATE FUNCTION oddities() RETURNS void LANGUAGE sql AS $$
  UPDATE customer SET divisor = 0 WHERE id = 400 AND income = 'high';
  UPDATE customer SET spike = 1.7e308 WHERE id IN (401, 402) AND income = 'high';
  UPDATE customer SET spike = 'NaN' WHERE id = 403 AND income = 'high';
  UPDATE customer SET code = 'seven' WHERE id = 404 AND income = 'high';
  UPDATE customer SET region = 'remote' WHERE id = 405 AND income = 'high';
  UPDATE customer SET bonus = 2147483647 WHERE id IN (406, 407) AND income = 'high';
  UPDATE customer SET joined = 'infinity' WHERE id = 408 AND income = 'high';
$$;

-- Makes a world twenty times as large, its reference too, and moves customers with low incomes between two regions until
-- 13300 are of the north, which everybody knows: people() has 13600 where a fifth of the incomes are high, and 13000 where
-- a quarter are.
CREATE FUNCTION grow() RETURNS void LANGUAGE sql AS $$
  INSERT INTO customer SELECT id + 2000 * i, income, region, age, visits, spend, bonus, divisor, code, spike, joined, note
    FROM customer, generate_series(1, 19) i;
  INSERT INTO customer_reference SELECT id + 2000 * i, income, region, age, visits, spend, bonus, divisor, code, spike, joined, note
    FROM customer_reference, generate_series(1, 19) i;
  WITH excess AS (SELECT count(*) - 13300 AS n FROM customer WHERE region = 'north'),
  moved AS (
    SELECT c.id, CASE WHEN n > 0 THEN 'east' ELSE 'north' END AS region
    FROM excess, LATERAL (
      SELECT id FROM customer WHERE income = 'low' AND region = CASE WHEN n > 0 THEN 'north' ELSE 'east' END ORDER BY id LIMIT abs(n)) AS c)
  UPDATE customer SET region = moved.region FROM moved WHERE customer.id = moved.id
$$;
