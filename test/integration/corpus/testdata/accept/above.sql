-- from: hand-written
SELECT count(*) FROM orders;

-- from: hand-written
SELECT status, count(*), sum(quantity), avg(amount) FROM orders GROUP BY status ORDER BY status;

-- from: hand-written, a column type with a modifier
SELECT segment, count(*) FROM orders GROUP BY segment;

-- from: hand-written, every type of sum and average
SELECT sum(priority), sum(quantity), sum(id), sum(amount), sum(tax), sum(discount), avg(priority), avg(quantity), avg(id), avg(amount), avg(tax), avg(discount) FROM orders;

-- from: hand-written, HAVING with its own aggregate
SELECT country FROM orders GROUP BY country HAVING avg(amount) > 100 AND count(*) > 10 ORDER BY country;

-- from: hand-written, arithmetic on aggregates
SELECT status, round(avg(amount), 1) AS a, sum(amount) / nullif(count(*), 0) AS b, count(*) % 7 AS c, -sum(quantity) AS d FROM orders GROUP BY status ORDER BY a;

-- from: hand-written, ORDER BY an aggregate that is not shown
SELECT country FROM orders GROUP BY country ORDER BY avg(amount) DESC;

-- from: hand-written, ORDER BY a position, LIMIT and OFFSET
SELECT country, sum(amount) FROM orders GROUP BY country ORDER BY 2 DESC LIMIT 2 OFFSET 1;

-- from: hand-written, LIMIT by a parameter
-- $1: 3
SELECT country, sum(amount) FROM orders GROUP BY country ORDER BY 2 DESC LIMIT $1;

-- from: hand-written, FETCH FIRST WITH TIES
SELECT country, sum(amount) FROM orders GROUP BY country ORDER BY 2 FETCH FIRST 2 ROWS WITH TIES;

-- from: hand-written, DISTINCT above
SELECT DISTINCT count(*) > 100 FROM orders GROUP BY status;

-- from: hand-written, DISTINCT ON
SELECT DISTINCT ON (status) status, channel, sum(amount) FROM orders GROUP BY status, channel ORDER BY status, sum(amount) DESC;

-- from: hand-written, window functions over groups
SELECT status, channel, count(*), rank() OVER (PARTITION BY status ORDER BY sum(amount) DESC), sum(count(*)) OVER (PARTITION BY status), lag(sum(amount)) OVER (ORDER BY status, channel) FROM orders GROUP BY status, channel ORDER BY 1, 2;

-- from: hand-written, a named window
SELECT country, sum(sum(amount)) OVER w AS running, ntile(2) OVER w FROM orders GROUP BY country WINDOW w AS (ORDER BY country) ORDER BY country;

-- from: hand-written, a share of the total
SELECT country, round(100.0 * count(*) / sum(count(*)) OVER (), 2) AS percent FROM orders GROUP BY country ORDER BY country;

-- from: hand-written, WITH
WITH t AS (SELECT status, sum(amount) AS s FROM orders GROUP BY status) SELECT status, s / (SELECT sum(s) FROM t) AS share FROM t ORDER BY status;

-- from: hand-written, WITH MATERIALIZED and a column list
WITH t(a, b) AS MATERIALIZED (SELECT status, count(*) FROM orders GROUP BY status) SELECT a, b FROM t WHERE b > 5 ORDER BY a;

-- from: hand-written, WITH NOT MATERIALIZED, used twice
WITH t AS NOT MATERIALIZED (SELECT country, sum(amount) AS s FROM orders GROUP BY country) SELECT a.country, b.country FROM t a JOIN t b ON a.s < b.s ORDER BY 1, 2;

-- from: hand-written, nested WITH
WITH a AS (WITH b AS (SELECT status, count(*) AS n FROM orders GROUP BY status) SELECT max(n) AS most FROM b) SELECT most FROM a;

-- from: hand-written, a WITH that uses another
WITH a AS (SELECT status, channel, sum(amount) AS s FROM orders GROUP BY 1, 2), b AS (SELECT status, max(s) AS m FROM a GROUP BY status) SELECT a.status, a.channel FROM a JOIN b ON a.status = b.status AND a.s = b.m ORDER BY 1;

-- from: hand-written, WITH RECURSIVE over noisy rows
WITH RECURSIVE t AS (SELECT country, count(*) AS n FROM orders GROUP BY country), r(i, total) AS (SELECT 0, 0::numeric UNION ALL SELECT i + 1, total + (SELECT sum(n) FROM t) FROM r WHERE i < 3) SELECT * FROM r ORDER BY i;

-- from: hand-written, a scalar subquery in the list
SELECT name, (SELECT count(*) FROM orders) AS n FROM countries ORDER BY name;

-- from: hand-written, a scalar subquery in WHERE
SELECT name FROM countries WHERE (SELECT count(*) FROM orders) > 100 ORDER BY name;

-- from: hand-written, IN of groups
SELECT name FROM countries WHERE code IN (SELECT country FROM orders GROUP BY country HAVING count(*) > 5) ORDER BY name;

-- from: hand-written, NOT IN of groups
SELECT name FROM countries WHERE code NOT IN (SELECT country FROM orders GROUP BY country) ORDER BY name;

-- from: hand-written, EXISTS of groups
SELECT 1 AS one WHERE EXISTS (SELECT FROM orders GROUP BY country HAVING sum(amount) > 10);

-- from: hand-written, ALL of groups
SELECT country FROM orders GROUP BY country HAVING sum(amount) >= ALL (SELECT sum(amount) FROM orders GROUP BY country);

-- from: hand-written, ARRAY of groups
SELECT ARRAY(SELECT count(*) FROM orders GROUP BY country ORDER BY 1);

-- from: hand-written, groups joined with an ordinary table
SELECT c.name, o.n FROM countries c JOIN (SELECT country, count(*) AS n FROM orders GROUP BY country) o ON o.country = c.code ORDER BY c.name;

-- from: hand-written, left join from an ordinary table
SELECT c.name, coalesce(o.n, 0) FROM countries c LEFT JOIN (SELECT country, count(*) AS n FROM orders GROUP BY country) o ON o.country = c.code ORDER BY c.name;

-- from: hand-written, full join of two cuts
SELECT coalesce(a.country, b.country), a.n, b.n FROM (SELECT country, count(*) AS n FROM orders WHERE is_paid GROUP BY country) a FULL JOIN (SELECT country, count(*) AS n FROM orders WHERE NOT is_paid GROUP BY country) b USING (country) ORDER BY 1;

-- from: hand-written, a lateral join above
SELECT g.country, l.x FROM (SELECT country, count(*) AS n FROM orders GROUP BY country) g, LATERAL (SELECT g.n * 2 AS x) l ORDER BY 1;

-- from: hand-written, targets against achieved
SELECT t.country, sum(t.amount) AS target, max(o.s) AS reached FROM targets t JOIN (SELECT country, sum(amount) AS s FROM orders GROUP BY country) o USING (country) GROUP BY t.country ORDER BY 1;

-- from: hand-written, UNION ALL
SELECT 'paid' AS kind, count(*) FROM orders WHERE is_paid UNION ALL SELECT 'unpaid', count(*) FROM orders WHERE NOT is_paid ORDER BY kind;

-- from: hand-written, INTERSECT and EXCEPT
SELECT country FROM orders GROUP BY country EXCEPT SELECT code FROM countries WHERE region = 'Europe' ORDER BY 1;

-- from: hand-written, UNION of a cut and an ordinary table
SELECT country AS x FROM orders GROUP BY country UNION SELECT code FROM countries ORDER BY x;

-- from: hand-written, VALUES beside a cut
SELECT v.x, (SELECT sum(quantity) FROM orders) FROM (VALUES (1), (2)) v(x) ORDER BY 1;

-- from: hand-written, grouping noisy rows again
SELECT n > 100 AS many, count(*), min(n), max(n), string_agg(status, ',' ORDER BY status) FROM (SELECT status, channel, count(*) AS n FROM orders GROUP BY status, channel) t GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUPING SETS above
SELECT status, channel, sum(n), grouping(status) FROM (SELECT status, channel, count(*) AS n FROM orders GROUP BY status, channel) t GROUP BY ROLLUP (status, channel) ORDER BY 1 NULLS LAST, 2 NULLS LAST;

-- from: hand-written, statistics of noisy rows
SELECT stddev(n), percentile_cont(0.5) WITHIN GROUP (ORDER BY n), count(DISTINCT status) FROM (SELECT status, country, sum(amount)::float8 AS n FROM orders GROUP BY 1, 2) t;

-- from: hand-written, JSON of noisy rows
SELECT json_agg(t ORDER BY status) FROM (SELECT status, count(*) AS n FROM orders GROUP BY status) t;

-- from: hand-written, row_to_json and a whole row above
SELECT row_to_json(t), t FROM (SELECT country, count(*) AS n FROM orders GROUP BY country) t ORDER BY t.country;

-- from: hand-written, CASE over aggregates
SELECT status, CASE WHEN count(*) > 1000 THEN 'many' ELSE 'few' END AS size FROM orders GROUP BY status ORDER BY status;

-- from: hand-written, casts and functions of aggregates
SELECT avg(amount)::int, floor(avg(quantity)), greatest(sum(quantity), 5), to_char(count(*), '999999'), abs(avg(discount))::numeric(6,4) FROM orders;

-- from: hand-written, a star over a cut
SELECT *, n + 1 AS more FROM (SELECT status, count(*) AS n FROM orders GROUP BY status) t ORDER BY status;

-- from: hand-written, schema-qualified names and an alias
SELECT o.status, count(*) FROM public.orders AS o WHERE o.country = 'DE' GROUP BY o.status ORDER BY o.status;

-- from: hand-written, columns qualified by schema
SELECT public.orders.status, count(public.orders.id) FROM public.orders GROUP BY public.orders.status ORDER BY 1;

-- from: hand-written, quoted mixed-case column
SELECT sum("Unit Price") AS "Total of ""it""" FROM orders;

-- from: hand-written, INSERT ... SELECT
CREATE TEMP TABLE x (s text, n int8);
INSERT INTO x SELECT status, count(*) FROM orders GROUP BY status;
SELECT * FROM x ORDER BY s;

-- from: hand-written, INSERT ... RETURNING with a scalar subquery
CREATE TEMP TABLE x (n int8);
INSERT INTO x VALUES ((SELECT count(*) FROM orders)) RETURNING n;

-- from: hand-written, UPDATE with a cut in a subquery
CREATE TEMP TABLE x (c text, n int8);
INSERT INTO x VALUES ('DE', 0), ('AT', 0);
UPDATE x SET n = t.n FROM (SELECT country, count(*) AS n FROM orders GROUP BY country) t WHERE t.country = x.c;
SELECT * FROM x ORDER BY c;

-- from: hand-written, UPDATE with a scalar subquery
CREATE TEMP TABLE x (n int8);
INSERT INTO x VALUES (1);
UPDATE x SET n = (SELECT sum(quantity) FROM orders) RETURNING n;

-- from: hand-written, DELETE by a cut
CREATE TEMP TABLE x (n int8);
INSERT INTO x VALUES (1), (1000000000);
DELETE FROM x WHERE n < (SELECT count(*) FROM orders) RETURNING n;

-- from: hand-written, a data-changing WITH beside a cut
CREATE TEMP TABLE x (n int8);
WITH i AS (INSERT INTO x SELECT count(*) FROM orders RETURNING n) SELECT n > 0 FROM i;

-- from: hand-written, MERGE of noisy rows
CREATE TEMP TABLE x (c text PRIMARY KEY, n int8);
INSERT INTO x VALUES ('DE', 0);
MERGE INTO x USING (SELECT country, count(*) AS n FROM orders GROUP BY country) t ON x.c = t.country WHEN MATCHED THEN UPDATE SET n = t.n WHEN NOT MATCHED THEN INSERT VALUES (t.country, t.n);
SELECT * FROM x ORDER BY c;

-- from: hand-written, CREATE TABLE AS
CREATE TEMP TABLE x AS SELECT status, count(*) AS n, avg(amount) AS a FROM orders GROUP BY status;
SELECT * FROM x ORDER BY status;

-- from: hand-written, CREATE TABLE AS with a column list, WITH NO DATA
CREATE TEMP TABLE x (a, b) AS SELECT status, count(*) FROM orders GROUP BY status WITH NO DATA;
SELECT * FROM x;

-- from: hand-written, SELECT INTO
SELECT status, count(*) AS n INTO TEMP x FROM orders GROUP BY status;
SELECT * FROM x ORDER BY status;

-- from: hand-written, PREPARE and EXECUTE
PREPARE q(text) AS SELECT channel, count(*) FROM orders WHERE status = $1 GROUP BY channel ORDER BY channel;
EXECUTE q('new');
EXECUTE q('open');
DEALLOCATE q;

-- from: hand-written, PREPARE with a parameter above the cut
PREPARE q AS SELECT channel, count(*) FROM orders GROUP BY channel HAVING count(*) > $1 ORDER BY channel;
EXECUTE q(10);
DEALLOCATE ALL;

-- from: hand-written, DECLARE, FETCH, MOVE, CLOSE
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT country, count(*) FROM orders GROUP BY country ORDER BY country;
FETCH 2 FROM c;
MOVE NEXT IN c;
FETCH ALL FROM c;
FETCH BACKWARD 1 FROM c;
CLOSE c;
COMMIT;

-- from: hand-written, a cursor WITH HOLD
DECLARE c CURSOR WITH HOLD FOR SELECT country, sum(amount) FROM orders GROUP BY country ORDER BY country;
FETCH FORWARD 3 FROM c;
CLOSE c;

-- from: hand-written, COPY of a query
COPY (SELECT status, count(*) FROM orders GROUP BY status ORDER BY status) TO STDOUT;

-- from: hand-written, COPY of a query as CSV
COPY (SELECT country, sum(quantity) FROM orders GROUP BY country ORDER BY country) TO STDOUT WITH (FORMAT csv, HEADER true);

-- from: hand-written, several statements and a transaction
BEGIN;
SELECT count(*) FROM orders;
SAVEPOINT s;
SELECT sum(quantity) FROM orders;
ROLLBACK TO s;
SELECT count(*) FROM countries;
COMMIT;

-- from: hand-written, a temporary view over noisy rows cannot be; over ordinary ones it can
CREATE TEMP VIEW v AS SELECT code FROM countries;
SELECT v.code, o.n FROM v JOIN (SELECT country, count(*) AS n FROM orders GROUP BY country) o ON o.country = v.code ORDER BY 1;

-- from: hand-written, two cuts over different conditions are one statement
SELECT (SELECT count(*) FROM orders WHERE is_paid)::float8 / (SELECT count(*) FROM orders);

-- from: hand-written, a cut in VALUES
VALUES ((SELECT count(*) FROM orders)), (0);

-- from: hand-written, a cut as a function's argument in FROM
SELECT count(*) FROM generate_series(1, (SELECT count(*) FROM orders)) g;

-- from: hand-written, GROUP BY without an aggregate
SELECT country, status FROM orders GROUP BY country, status ORDER BY 1, 2;

-- from: hand-written, HAVING without GROUP BY
SELECT 'x' AS x FROM orders HAVING count(*) > 10;

-- from: hand-written, aggregates of constants
SELECT count(1), sum(2), avg(3), count('x') FROM orders;

-- from: hand-written, parameters above and below
-- $1: new
-- $2: 10
-- $3: 2
SELECT country, count(*) * $2::int AS n FROM orders WHERE status = $1 GROUP BY country HAVING count(*) > $3 ORDER BY country;

-- from: hand-written, NULL in a group's key
SELECT is_gift, count(*), avg(quantity) FROM orders GROUP BY is_gift ORDER BY is_gift NULLS FIRST;

-- from: hand-written, integer keys with NULL
SELECT rating, count(*) FROM orders GROUP BY rating ORDER BY rating;
