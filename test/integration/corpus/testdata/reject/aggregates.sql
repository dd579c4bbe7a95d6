-- from: extremes
SELECT max(amount) FROM orders;

-- from: extremes
SELECT min(created_on), max(created_on) FROM orders;

-- from: extremes, by group
SELECT status, max(amount) FROM orders GROUP BY status;

-- from: extremes, in HAVING
SELECT status FROM orders GROUP BY status HAVING min(amount) < 11;

-- from: extremes, in ORDER BY
SELECT status FROM orders GROUP BY status ORDER BY max(quantity);

-- from: extremes, in an expression
SELECT max(amount) - min(amount) AS span FROM orders;

-- from: lists
SELECT array_agg(amount) FROM orders;

-- from: lists
SELECT string_agg(status, ',') FROM orders;

-- from: lists
SELECT string_agg(DISTINCT note, ',' ORDER BY note) FROM orders;

-- from: lists
SELECT json_agg(o) FROM orders o;

-- from: lists
SELECT jsonb_agg(amount) FROM orders;

-- from: lists
SELECT json_object_agg(id, amount) FROM orders;

-- from: lists
SELECT xmlagg(xmlelement(name a, amount)) FROM orders;

-- from: lists
SELECT range_agg(daterange(created_on, created_on + 1)) FROM orders;

-- from: bits and truth
SELECT bool_and(is_paid) FROM orders;

-- from: bits and truth
SELECT bool_or(amount > 499) FROM orders;

-- from: bits and truth
SELECT every(is_paid) FROM orders;

-- from: bits and truth
SELECT bit_or(quantity), bit_and(quantity), bit_xor(quantity) FROM orders;

-- from: ordered sets
SELECT rank(100) WITHIN GROUP (ORDER BY amount) FROM orders;

-- from: ordered sets
SELECT cume_dist(100) WITHIN GROUP (ORDER BY amount) FROM orders;

-- from: ordered sets
SELECT percentile_cont(ARRAY[0, 1]) WITHIN GROUP (ORDER BY amount) FROM orders;

-- from: ordered aggregates
SELECT sum(amount ORDER BY id) FROM orders;

-- from: a user-defined aggregate
SELECT public.my_sum(amount) FROM orders;

-- from: an aggregate of another schema
SELECT pg_temp.count(*) FROM orders;

-- from: an aggregate inside an aggregate
SELECT sum(count(*)) FROM orders;

-- from: an aggregate in WHERE
SELECT count(*) FROM orders WHERE count(*) > 1;

-- from: an aggregate in GROUP BY
SELECT count(*) FROM orders GROUP BY count(*);

-- from: a sum of text
SELECT sum(status) FROM orders;

-- from: an average of dates
SELECT avg(created_on) FROM orders;

-- from: an average of truth values
SELECT avg(is_paid) FROM orders;

-- from: count of a whole row
SELECT count(o) FROM orders o;

-- from: count of a whole row
SELECT count(o.*) FROM orders o;

-- from: two arguments
SELECT count(id, amount) FROM orders;

-- from: no argument
SELECT sum() FROM orders;

-- from: VARIADIC
SELECT count(VARIADIC ARRAY[quantity]) FROM orders;

-- from: an aggregate of an outer column
SELECT (SELECT sum(o.amount) FROM countries) FROM orders o;

-- from: a subquery of a cut that uses a column
SELECT status, (SELECT name FROM countries WHERE code = o.country) FROM orders o GROUP BY status;

-- from: a misspelt aggregate
SELECT cuont(*) FROM orders;

-- from: a misspelt aggregate
SELECT status, summ(amount) FROM orders GROUP BY status;

-- from: a misspelt aggregate
SELECT sum(amount), averge(amount) FROM orders;

-- from: sums of conditions
SELECT sum(amount), sum(is_paid) FROM orders;
