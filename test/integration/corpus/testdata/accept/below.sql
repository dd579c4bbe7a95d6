-- from: hand-written, comparison, arithmetic and logic
SELECT count(*) FROM orders WHERE amount > 100 AND (quantity < 5 OR NOT is_paid) AND discount IS NOT NULL;

-- from: hand-written, IN, BETWEEN, LIKE
SELECT count(*), sum(amount) FROM orders WHERE status IN ('new', 'open') AND quantity BETWEEN 2 AND 6 AND note LIKE 'note%' AND note NOT ILIKE '%9';

-- from: hand-written, IN with parameters
-- $1: new
-- $2: shipped
SELECT count(*) FROM orders WHERE status IN ($1, $2);

-- from: hand-written, = ANY of an array parameter
-- $1: {new,shipped}
SELECT count(*) FROM orders WHERE status = ANY ($1::text[]);

-- from: hand-written, = ANY of an array constant
SELECT count(*) FROM orders WHERE country = ANY ('{DE,AT}');

-- from: hand-written, <> ALL of ARRAY[...]
SELECT count(*) FROM orders WHERE quantity <> ALL (ARRAY[1, 2, 3]);

-- from: hand-written, CASE, COALESCE, NULLIF, GREATEST, LEAST
SELECT sum(CASE WHEN is_paid THEN amount ELSE 0 END), avg(coalesce(discount, 0)), count(nullif(quantity, 3)), sum(greatest(quantity, priority)), sum(least(quantity, 5)) FROM orders;

-- from: hand-written, simple CASE
SELECT sum(CASE status WHEN 'new' THEN 1 WHEN 'open' THEN 2 ELSE 0 END) FROM orders;

-- from: hand-written, sums of expressions
SELECT sum(amount * quantity), avg(amount / quantity), sum(quantity % 3), sum(-quantity), avg(amount - 2 * tax) FROM orders;

-- from: hand-written, division that may be by zero
SELECT sum(amount / nullif(quantity - 3, 0)) FROM orders;

-- from: hand-written, casts between numbers
SELECT sum(quantity::numeric), sum(amount::int), avg(discount::numeric), sum(priority::int8), sum(is_paid::int) FROM orders;

-- from: hand-written, dates compared with constants
SELECT count(*) FROM orders WHERE created_on >= '2024-04-01' AND created_on < date '2024-07-01';

-- from: hand-written, timestamps with an interval
SELECT count(*) FROM orders WHERE created_at >= timestamp '2024-07-01' - interval '30 days' AND created_at < timestamp '2024-07-01';

-- from: hand-written, date arithmetic
SELECT count(*) FROM orders WHERE created_on > date '2024-06-30' - 90;

-- from: hand-written, extract in WHERE
SELECT count(*) FROM orders WHERE extract(month FROM created_on) = 5 AND extract(isodow FROM created_at) < 6;

-- from: hand-written, date_part and date_trunc in WHERE
SELECT count(*) FROM orders WHERE date_part('hour', created_at) >= 12 AND date_trunc('month', created_at) = '2024-03-01';

-- from: hand-written, average of a date part
SELECT avg(extract(epoch FROM shipped_at - created_at AT TIME ZONE 'UTC') / 3600) FROM orders WHERE shipped_at IS NOT NULL;

-- from: hand-written, text functions in WHERE
SELECT count(*) FROM orders WHERE lower(note) LIKE '%call%' OR length(note) > 6 OR upper(status) = 'NEW';

-- from: hand-written, text functions in sums
SELECT sum(length(note)), avg(char_length(trim(both ' ' from status))), sum(position('e' in status)) FROM orders;

-- from: hand-written, substring, left, right, concatenation
SELECT count(*) FROM orders WHERE substring(note from 1 for 4) = 'note' AND left(status, 1) = 'n' AND right(country, 1) <> 'X' AND status || '/' || channel <> 'a/b';

-- from: hand-written, replace, starts_with, strpos
SELECT count(*) FROM orders WHERE replace(note, 'note', 'n') = 'n 4' OR starts_with(note, 'urgent') OR strpos(note, '%') > 0;

-- from: hand-written, mathematics
SELECT sum(round(amount)), sum(floor(amount)), sum(ceil(discount * 10)), sum(abs(quantity - 5)), avg(sqrt(quantity)), avg(ln(quantity)), avg(power(quantity, 2)), sum(sign(quantity - 4)), sum(mod(quantity, 3)), avg(exp(discount)) FROM orders;

-- from: hand-written, round to digits and trunc
SELECT sum(round(amount, 1)), sum(trunc(amount)), sum(trunc(amount, 1)) FROM orders;

-- from: hand-written, width_bucket in a sum
SELECT sum(width_bucket(amount, 0, 500, 5)) FROM orders;

-- from: hand-written, boolean columns
SELECT count(*) FROM orders WHERE is_paid AND is_gift IS NOT TRUE;

-- from: hand-written, IS DISTINCT FROM
SELECT count(*) FROM orders WHERE rating IS DISTINCT FROM 3 AND is_gift IS NOT DISTINCT FROM NULL;

-- from: hand-written, row comparison
SELECT count(*) FROM orders WHERE (status, channel) = ('new', 'web');

-- from: hand-written, row IN
SELECT count(*) FROM orders WHERE (status, channel) IN (('new', 'web'), ('open', 'shop'));

-- from: hand-written, a regular expression
SELECT count(*) FROM orders WHERE note ~ '^note [0-4]$';

-- from: hand-written, SIMILAR TO
SELECT count(*) FROM orders WHERE status SIMILAR TO '(new|open)';

-- from: hand-written, overlaps
SELECT count(*) FROM orders WHERE (created_on, created_on + 10) OVERLAPS (date '2024-05-01', date '2024-05-31');

-- from: hand-written, current_date stands for a constant
SELECT count(*) FROM orders WHERE created_on <= current_date;

-- from: hand-written, FILTER
SELECT count(*) FILTER (WHERE is_paid), sum(amount) FILTER (WHERE status = 'new'), avg(quantity) FILTER (WHERE country IN ('DE', 'AT')) FROM orders;

-- from: hand-written, FILTER beside GROUP BY
SELECT channel, count(*), count(*) FILTER (WHERE status = 'shipped') AS shipped FROM orders GROUP BY channel ORDER BY channel;

-- from: hand-written, GROUPING SETS
SELECT status, channel, count(*) FROM orders GROUP BY GROUPING SETS ((status, channel), (status), ()) ORDER BY 1 NULLS LAST, 2 NULLS LAST;

-- from: hand-written, ROLLUP with GROUPING
SELECT country, status, sum(amount), grouping(country, status) FROM orders GROUP BY ROLLUP (country, status) ORDER BY 4, 1, 2;

-- from: hand-written, CUBE
SELECT is_paid, channel, count(*) FROM orders GROUP BY CUBE (is_paid, channel) ORDER BY 1 NULLS LAST, 2 NULLS LAST;

-- from: hand-written, GROUP BY CASE
SELECT CASE WHEN quantity <= 3 THEN 'few' WHEN quantity <= 6 THEN 'some' ELSE 'many' END AS size, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUP BY an expression of two keys
SELECT status || '-' || channel AS k, sum(amount) FROM orders GROUP BY status || '-' || channel ORDER BY 1;

-- from: hand-written, GROUP BY date_trunc of a date
SELECT date_trunc('quarter', created_on) AS q, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUP BY extract
SELECT extract(month FROM created_on) AS m, avg(amount) FROM orders GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUP BY width_bucket
SELECT width_bucket(quantity, 1, 10, 3) AS b, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUP BY a cast
SELECT quantity::text AS q, count(*) FROM orders GROUP BY quantity::text ORDER BY 1;

-- from: hand-written, GROUP BY modulo
SELECT quantity % 2 AS odd, sum(quantity) FROM orders GROUP BY quantity % 2 ORDER BY 1;

-- from: hand-written, GROUP BY a condition
SELECT quantity > 5 AS large, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUP BY COALESCE of a key with NULL
SELECT coalesce(rating, 0) AS r, count(*) FROM orders GROUP BY 1 ORDER BY 1;

-- from: hand-written, GROUP BY a constant
SELECT 'all' AS k, count(*) FROM orders GROUP BY 1;

-- from: hand-written, GROUP BY DISTINCT and a key twice
SELECT status, status AS again, count(*) FROM orders GROUP BY status, 2 ORDER BY 1;

-- from: hand-written, inner join, many to one
SELECT p.category, count(*), sum(o.amount) FROM orders o JOIN products p ON p.id = o.product_id GROUP BY p.category ORDER BY p.category;

-- from: hand-written, left join, many to one
SELECT count(*), count(p.id), sum(p.list_price * o.quantity) FROM orders o LEFT JOIN products p ON p.id = o.product_id;

-- from: hand-written, join with USING-like names and a condition on the ordinary table
SELECT o.status, avg(o.amount) FROM orders o JOIN countries c ON o.country = c.code WHERE c.region = 'Europe' GROUP BY o.status ORDER BY 1;

-- from: hand-written, two joins
SELECT c.region, p.category, count(*) FROM orders o JOIN countries c ON c.code = o.country JOIN products p ON p.id = o.product_id GROUP BY c.region, p.category ORDER BY 1, 2;

-- from: hand-written, comma join
-- groups
SELECT c.name, count(*) FROM orders o, countries c WHERE c.code = o.country GROUP BY c.name ORDER BY 1;

-- from: hand-written, join with the calendar on a date
SELECT k.quarter, sum(o.quantity) FROM orders o JOIN calendar k ON k.day = o.created_on GROUP BY k.quarter ORDER BY 1;

-- from: hand-written, join with several columns
SELECT count(*), sum(t.amount) FROM orders o JOIN targets t ON t.country = o.country AND t.month = date_trunc('month', o.created_on);

-- from: hand-written, one to many: every order counts once for each tag
SELECT count(*), sum(o.quantity) FROM orders o JOIN tags t ON t.product_id = o.product_id;

-- from: hand-written, one to many by group
SELECT t.tag, count(*) FROM orders o JOIN tags t ON t.product_id = o.product_id GROUP BY t.tag ORDER BY 1;

-- from: hand-written, a join with a subquery of ordinary tables
SELECT count(*) FROM orders o JOIN (SELECT id FROM products WHERE active) p ON p.id = o.product_id;

-- from: hand-written, a join with a view of ordinary tables
SELECT e.name, count(*) FROM orders o JOIN european_countries e ON e.code = o.country GROUP BY e.name ORDER BY 1;

-- from: hand-written, EXISTS
SELECT count(*) FROM orders o WHERE EXISTS (SELECT FROM tags t WHERE t.product_id = o.product_id AND t.tag = 'sale');

-- from: hand-written, NOT EXISTS
SELECT count(*) FROM orders o WHERE NOT EXISTS (SELECT 1 FROM products p WHERE p.id = o.product_id AND p.active);

-- from: hand-written, IN of a subquery
SELECT count(*), sum(amount) FROM orders WHERE product_id IN (SELECT id FROM products WHERE category = 'Seat');

-- from: hand-written, NOT IN of a subquery
SELECT count(*) FROM orders WHERE country NOT IN (SELECT code FROM countries WHERE region = 'Europe');

-- from: hand-written, an uncorrelated scalar subquery over an ordinary table
SELECT count(*) FROM orders WHERE amount > (SELECT avg(list_price) FROM products);

-- from: hand-written, a scalar subquery over the protected table is a cut of its own
SELECT count(*) FROM orders WHERE amount > (SELECT avg(amount) FROM orders);

-- from: hand-written, a derived table that filters and projects
SELECT count(*), avg(v) FROM (SELECT amount * quantity AS v FROM orders WHERE is_paid) t WHERE v > 100;

-- from: hand-written, a derived table with a key
SELECT s, sum(a) FROM (SELECT status AS s, amount AS a FROM orders) t GROUP BY s ORDER BY s;

-- from: hand-written, a star below
SELECT status, count(*) FROM (SELECT * FROM orders WHERE quantity > 3) t GROUP BY status ORDER BY status;

-- from: hand-written, derived tables in derived tables
SELECT country, avg(x) FROM (SELECT country, a + 1 AS x FROM (SELECT country, amount AS a FROM orders WHERE is_paid) i) o GROUP BY country ORDER BY country;

-- from: hand-written, a WITH that filters
WITH paid AS (SELECT country, amount FROM orders WHERE is_paid) SELECT country, sum(amount) FROM paid GROUP BY country ORDER BY country;

-- from: hand-written, a view that filters
SELECT status, count(*), sum(amount) FROM paid_orders GROUP BY status ORDER BY status;

-- from: hand-written, a view that renames and computes
SELECT market, sum(revenue), sum(units) FROM order_facts WHERE day >= '2024-06-01' GROUP BY market ORDER BY market;

-- from: hand-written, a view joined with an ordinary table
SELECT c.region, count(*) FROM paid_orders p JOIN countries c ON c.code = p.country GROUP BY c.region ORDER BY 1;

-- from: hand-written, UNION ALL of two parts of the table below an aggregate
SELECT count(*) FROM (SELECT amount FROM orders WHERE status = 'new' UNION ALL SELECT amount FROM orders WHERE status = 'open') t;

-- from: hand-written, counts of distinct values
SELECT count(DISTINCT customer_id), count(DISTINCT country) FROM orders;

-- from: hand-written, sums and averages of distinct values
SELECT sum(DISTINCT quantity), avg(DISTINCT quantity) FROM orders;

-- from: hand-written, standard deviation and variance
SELECT stddev(amount), stddev_samp(amount), stddev_pop(quantity), variance(amount), var_samp(quantity), var_pop(discount) FROM orders;

-- from: hand-written, correlation and regression
SELECT corr(amount, quantity), covar_pop(amount, quantity), covar_samp(amount, quantity), regr_slope(amount, quantity), regr_intercept(amount, quantity), regr_r2(amount, quantity), regr_count(amount, quantity), regr_avgx(amount, quantity), regr_avgy(amount, quantity) FROM orders;

-- from: hand-written, percentiles and mode
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), percentile_disc(0.9) WITHIN GROUP (ORDER BY quantity), mode() WITHIN GROUP (ORDER BY status) FROM orders;

-- from: hand-written, another protected table
SELECT sex, count(*), avg(weight) FROM patients GROUP BY sex ORDER BY sex;

-- from: hand-written, linked protected tables: visits of a patient
SELECT p.sex, count(*), sum(v.cost) FROM patients p JOIN visits v ON v.patient_id = p.id GROUP BY p.sex ORDER BY 1;

-- from: hand-written, linked protected tables, the other way round
SELECT v.department, avg(v.minutes) FROM visits v JOIN patients p ON p.id = v.patient_id WHERE p.smoker GROUP BY v.department ORDER BY 1;

-- from: hand-written, keys of both linked tables
SELECT p.region, v.department, count(*) FROM visits v JOIN patients p ON p.id = v.patient_id GROUP BY p.region, v.department ORDER BY 1, 2;

-- from: hand-written, EXISTS over a linked table
SELECT count(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.id AND v.urgent);

-- from: hand-written, IN over a linked table
SELECT region, count(*) FROM patients WHERE id IN (SELECT patient_id FROM visits WHERE department = 'heart') GROUP BY region ORDER BY region;

-- from: hand-written, a left join with a linked table
SELECT count(*), count(v.id) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id;

-- from: hand-written, a derived table over linked tables
SELECT sex, avg(cost) FROM (SELECT p.sex, v.cost FROM visits v JOIN patients p ON p.id = v.patient_id) t GROUP BY sex ORDER BY sex;

-- from: hand-written, an operator by its schema, as psql and pg_dump write it
SELECT count(*) FROM orders WHERE quantity OPERATOR(pg_catalog.=) 3;

-- from: hand-written, a function by its schema
SELECT sum(pg_catalog.abs(quantity - 4)) FROM orders WHERE pg_catalog.lower(status) = 'new';

-- from: hand-written, text as numbers where every text is one
SELECT sum(quantity::text::int), avg((quantity || '.5')::numeric) FROM orders;

-- from: hand-written, a cross join
SELECT count(*) FROM orders CROSS JOIN products;

-- from: hand-written, a join that multiplies without a bound
SELECT count(*) FROM orders o JOIN products p ON p.list_price > o.amount;

-- from: hand-written, renamed columns
SELECT count(a) FROM orders AS o(a, b);

-- from: hand-written, a WITH query with a protected table's name
WITH orders AS (SELECT 1 AS id) SELECT count(*) FROM orders;

-- from: hand-written, an expression of an undeclared key
SELECT amount > 100, count(*) FROM orders GROUP BY 1;

-- from: hand-written, an expression of a linked table that may be missing
SELECT upper(v.department) AS d, count(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id GROUP BY 1;

-- from: hand-written, keys of one column of a linked table that may be missing
SELECT v.department, upper(v.department) AS d, v.urgent, count(*) FROM patients p LEFT JOIN visits v ON v.patient_id = p.id GROUP BY 1, 2, 3;

-- from: hand-written, keys of one column, in sets
SELECT upper(status) AS u, status, channel, count(*) FROM orders GROUP BY GROUPING SETS ((u, status), (u, channel), (status), ());

-- from: hand-written, keys of one ordinary table
SELECT p.category, p.active, count(*) FROM orders o LEFT JOIN products p ON p.id = o.product_id GROUP BY 1, 2;
