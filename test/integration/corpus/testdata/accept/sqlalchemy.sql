-- from: SQLAlchemy 2.1.0b4, recorded: group_by and order_by
SELECT orders.status, count(orders.id) AS count_1
FROM orders
WHERE orders.channel = 'web' GROUP BY orders.status ORDER BY orders.status;

-- from: SQLAlchemy 2.1.0b4, recorded: Query.count
SELECT count(*) AS count_1
FROM (SELECT orders.id AS orders_id, orders.status AS orders_status
FROM orders
WHERE orders.is_paid IS true) AS anon_1;

-- from: SQLAlchemy 2.1.0b4, recorded: Query.count of groups
SELECT count(*) AS count_1
FROM (SELECT orders.country AS orders_country, sum(orders.amount) AS sum_1
FROM orders GROUP BY orders.country) AS anon_1;

-- from: SQLAlchemy 2.1.0b4, recorded: labels and having
SELECT orders.country AS country, sum(orders.amount) AS total, avg(orders.quantity) AS mean
FROM orders GROUP BY orders.country
HAVING count(*) > 100 ORDER BY total DESC;

-- from: SQLAlchemy 2.1.0b4, recorded: aggregates with filter
SELECT count(*) FILTER (WHERE orders.is_paid) AS anon_1, sum(orders.amount) FILTER (WHERE orders.status = 'shipped' AND orders.quantity > 2) AS anon_2
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: case in aggregates
SELECT sum(CASE WHEN orders.is_paid THEN orders.amount ELSE 0 END) AS sum_1, count(CASE WHEN (orders.amount > 200) THEN 1 END) AS count_1
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: grouping by case
SELECT CASE WHEN (orders.quantity < 3) THEN 'few' ELSE 'many' END AS size, count(orders.id) AS count_1
FROM orders GROUP BY CASE WHEN (orders.quantity < 3) THEN 'few' ELSE 'many' END;

-- from: SQLAlchemy 2.1.0b4, recorded: grouping by date_trunc
SELECT date_trunc('month', orders.created_at) AS month, sum(orders.amount) AS sum_1
FROM orders GROUP BY date_trunc('month', orders.created_at) ORDER BY month;

-- from: SQLAlchemy 2.1.0b4, recorded: grouping by extract
SELECT EXTRACT(month FROM orders.created_on) AS m, count(orders.id) AS count_1
FROM orders GROUP BY EXTRACT(month FROM orders.created_on);

-- from: SQLAlchemy 2.1.0b4, recorded: a join
SELECT products.category, avg(orders.amount) AS avg_1
FROM orders JOIN products ON products.id = orders.product_id
WHERE products.active GROUP BY products.category;

-- from: SQLAlchemy 2.1.0b4, recorded: in_, ilike, between
SELECT count(*) AS count_1
FROM orders
WHERE orders.country IN ('AT', 'DE') AND orders.note ILIKE '%call%' AND orders.quantity BETWEEN 2 AND 5;

-- from: SQLAlchemy 2.1.0b4, recorded: or_, is_, not_
SELECT count(*) AS count_1
FROM orders
WHERE orders.rating IS NULL OR orders.status != 'new';

-- from: SQLAlchemy 2.1.0b4, recorded: aggregate of a subquery
SELECT avg(anon_1.n) AS avg_1
FROM (SELECT orders.country AS country, count(orders.id) AS n
FROM orders GROUP BY orders.country) AS anon_1;

-- from: SQLAlchemy 2.1.0b4, recorded: a scalar subquery in where
SELECT anon_1.country, anon_1.n
FROM (SELECT orders.country AS country, count(orders.id) AS n
FROM orders GROUP BY orders.country) AS anon_1
WHERE anon_1.n > (SELECT avg(anon_1.n) AS avg_1
FROM (SELECT orders.country AS country, count(orders.id) AS n
FROM orders GROUP BY orders.country) AS anon_1);

-- from: SQLAlchemy 2.1.0b4, recorded: shares by a CTE used twice
WITH regional AS
(SELECT orders.country AS country, sum(orders.amount) AS total
FROM orders GROUP BY orders.country)
 SELECT regional.country, regional.total / CAST((SELECT sum(regional.total) AS sum_1
FROM regional) AS NUMERIC(12, 2)) AS anon_1
FROM regional;

-- from: SQLAlchemy 2.1.0b4, recorded: windows over groups
SELECT orders.country, count(orders.id) AS count_1, rank() OVER (ORDER BY count(orders.id) DESC) AS anon_1, sum(count(orders.id)) OVER (ORDER BY orders.country ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS anon_2
FROM orders GROUP BY orders.country;

-- from: SQLAlchemy 2.1.0b4, recorded: limit and offset
SELECT orders.country, count(orders.id) AS count_1
FROM orders GROUP BY orders.country ORDER BY orders.country
 LIMIT 2 OFFSET 1;

-- from: SQLAlchemy 2.1.0b4, recorded: union_all
SELECT 'a' AS x, count(*) AS count_1
FROM orders
WHERE orders.country = 'AT' UNION ALL SELECT 'b' AS anon_1, count(*) AS count_2
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: exists
SELECT count(*) AS count_1
FROM orders
WHERE EXISTS (SELECT *
FROM products
WHERE products.id = orders.product_id AND products.category = 'Seat');

-- from: SQLAlchemy 2.1.0b4, recorded: rollup
SELECT orders.status, orders.channel, count(*) AS count_1
FROM orders GROUP BY ROLLUP(orders.status, orders.channel);

-- from: SQLAlchemy 2.1.0b4, recorded: cast, coalesce, round
SELECT CAST(avg(orders.amount) AS INTEGER) AS avg_1, coalesce(sum(orders.discount), 0.0) AS coalesce_1, round(avg(orders.amount), 2) AS round_1
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: count of distinct
SELECT count(DISTINCT orders.customer_id) AS count_1
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: a scalar subquery as a column
SELECT products.id, (SELECT count(*) AS count_1
FROM orders
WHERE orders.product_id = products.id) AS n
FROM products ORDER BY products.id
 LIMIT 5;

-- from: SQLAlchemy 2.1.0b4, recorded: arithmetic below
SELECT sum(orders.amount * orders.quantity) AS sum_1, sum(orders.amount / CAST(nullif(orders.quantity, 0) AS NUMERIC)) AS sum_2
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: outerjoin from the other side
SELECT products.name, count(orders.id) AS count_1
FROM products LEFT OUTER JOIN orders ON orders.product_id = products.id GROUP BY products.name ORDER BY products.name;

-- from: SQLAlchemy 2.1.0b4, recorded: percentile_cont
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY orders.amount) AS percentile_cont_1
FROM orders;

-- from: SQLAlchemy 2.1.0b4, recorded: aliased
SELECT orders_1.status, sum(orders_1.quantity) AS sum_1
FROM orders AS orders_1 GROUP BY orders_1.status;

-- from: SQLAlchemy 2.1.0b4, recorded: has_table
SELECT pg_catalog.pg_class.relname
FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
WHERE pg_catalog.pg_class.relname IN ('orders') AND pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog';

-- from: SQLAlchemy 2.1.0b4, recorded: get_columns
SELECT pg_catalog.pg_attribute.attname AS name, pg_catalog.format_type(pg_catalog.pg_attribute.atttypid, pg_catalog.pg_attribute.atttypmod) AS format_type, CASE WHEN pg_catalog.pg_attribute.atthasdef THEN (SELECT pg_catalog.pg_get_expr(pg_catalog.pg_attrdef.adbin, pg_catalog.pg_attrdef.adrelid) AS pg_get_expr_1
FROM pg_catalog.pg_attrdef
WHERE pg_catalog.pg_attribute.atthasdef AND pg_catalog.pg_attrdef.adrelid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attrdef.adnum = pg_catalog.pg_attribute.attnum) ELSE NULL END AS "default", pg_catalog.pg_attribute.attnotnull AS not_null, pg_catalog.pg_class.relname AS table_name, pg_catalog.pg_description.description AS comment, pg_catalog.pg_attribute.attgenerated AS generated, CASE WHEN (pg_catalog.pg_attribute.attidentity != '') THEN (SELECT json_build_object('always', pg_catalog.pg_attribute.attidentity = 'a', 'start', pg_catalog.pg_sequence.seqstart, 'increment', pg_catalog.pg_sequence.seqincrement, 'minvalue', pg_catalog.pg_sequence.seqmin, 'maxvalue', pg_catalog.pg_sequence.seqmax, 'cache', pg_catalog.pg_sequence.seqcache, 'cycle', pg_catalog.pg_sequence.seqcycle) AS json_build_object_1
FROM pg_catalog.pg_sequence
WHERE pg_catalog.pg_attribute.attidentity != '' AND pg_catalog.pg_sequence.seqrelid = CAST(CAST(pg_catalog.pg_get_serial_sequence(CAST(CAST(pg_catalog.pg_attribute.attrelid AS REGCLASS) AS TEXT), pg_catalog.pg_attribute.attname) AS REGCLASS) AS OID)) ELSE NULL END AS identity_options, CASE WHEN (pg_catalog.pg_attribute.attcollation != 0 AND (SELECT pg_catalog.pg_type.typcollation
FROM pg_catalog.pg_type
WHERE pg_catalog.pg_type.oid = pg_catalog.pg_attribute.atttypid) != pg_catalog.pg_attribute.attcollation) THEN (SELECT json_build_object('name', pg_catalog.pg_collation.collname, 'schema', CASE WHEN pg_catalog.pg_collation_is_visible(pg_catalog.pg_collation.oid) THEN NULL ELSE pg_catalog.pg_namespace.nspname END) AS json_build_object_9
FROM pg_catalog.pg_collation JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_collation.collnamespace
WHERE pg_catalog.pg_collation.oid = pg_catalog.pg_attribute.attcollation) ELSE NULL END AS collation
FROM pg_catalog.pg_class LEFT OUTER JOIN pg_catalog.pg_attribute ON pg_catalog.pg_class.oid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_attribute.attnum > 0 AND NOT pg_catalog.pg_attribute.attisdropped LEFT OUTER JOIN pg_catalog.pg_description ON pg_catalog.pg_description.objoid = pg_catalog.pg_attribute.attrelid AND pg_catalog.pg_description.objsubid = pg_catalog.pg_attribute.attnum JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
WHERE pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog' AND pg_catalog.pg_class.relname IN ('orders') ORDER BY pg_catalog.pg_class.relname, pg_catalog.pg_attribute.attnum;

-- from: SQLAlchemy 2.1.0b4, recorded: the dialect's first statements
-- masked
select pg_catalog.version();
select current_schema();
show transaction isolation level;
show standard_conforming_strings;

-- from: memory of SQLAlchemy 2, func.count with group_by through psycopg's server-side parameters
-- $1: web
SELECT orders.status, count(orders.id) AS count_1
FROM orders
WHERE orders.channel = $1::VARCHAR GROUP BY orders.status ORDER BY orders.status;
