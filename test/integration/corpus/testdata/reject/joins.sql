-- from: a self-join
SELECT count(*) FROM orders a JOIN orders b ON a.customer_id = b.customer_id;

-- from: a self-join by comma
SELECT count(*) FROM orders a, orders b WHERE a.id < b.id;

-- from: a right join
SELECT count(*) FROM orders o RIGHT JOIN products p ON p.id = o.product_id;

-- from: a left join from the ordinary table
SELECT p.category, count(o.id) FROM products p LEFT JOIN orders o ON o.product_id = p.id GROUP BY p.category;

-- from: a full join
SELECT count(*) FROM orders o FULL JOIN products p ON p.id = o.product_id;

-- from: two datasets
SELECT count(*) FROM orders o JOIN patients p ON p.id = o.customer_id;

-- from: two datasets in two cuts
SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM patients);

-- from: protected tables that are not linked that way
SELECT count(*) FROM patients p JOIN visits v ON v.minutes = p.birth_year;

-- from: a join with a function
SELECT count(*) FROM orders o JOIN generate_series(1, 3) g ON g = o.quantity;

-- from: a lateral join
SELECT count(*) FROM orders o, LATERAL (SELECT o.quantity AS q) l;

-- from: a lateral function of a column
SELECT count(*) FROM orders o, generate_series(1, o.quantity) g;

-- from: a sample
SELECT count(*) FROM orders TABLESAMPLE SYSTEM (10);

-- from: a sample that repeats
SELECT count(*) FROM orders TABLESAMPLE BERNOULLI (10) REPEATABLE (1);

-- from: a join with a table of one's own
CREATE TEMP TABLE mine (id int);
SELECT count(*) FROM orders o JOIN mine m ON m.id = o.product_id;

-- from: a condition over a table of one's own
CREATE TEMP TABLE mine (id int8);
SELECT count(*) FROM orders WHERE id IN (SELECT id FROM mine);

-- from: a join with the catalog
SELECT count(*) FROM orders o JOIN pg_class c ON c.relpages = o.quantity;

-- from: FOR UPDATE
SELECT count(*) FROM orders FOR UPDATE;

-- from: FOR SHARE of rows
SELECT id FROM orders FOR SHARE SKIP LOCKED;

-- from: FOR UPDATE in a subquery
SELECT count(*) FROM (SELECT id FROM orders FOR UPDATE) t;

-- from: LIMIT below an aggregate
SELECT sum(amount) FROM (SELECT amount FROM orders ORDER BY amount DESC LIMIT 10) t;

-- from: OFFSET below an aggregate
SELECT count(*) FROM (SELECT amount FROM orders OFFSET 5) t;

-- from: DISTINCT below an aggregate
SELECT count(*) FROM (SELECT DISTINCT customer_id FROM orders) t;

-- from: DISTINCT ON below an aggregate
SELECT sum(amount) FROM (SELECT DISTINCT ON (customer_id) customer_id, amount FROM orders ORDER BY customer_id, amount DESC) t;

-- from: groups of an undeclared key below an aggregate
SELECT avg(n) FROM (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) t;

-- from: a window function below an aggregate
SELECT avg(r) FROM (SELECT row_number() OVER (ORDER BY amount) AS r FROM orders) t;

-- from: a set operation that removes duplicates below an aggregate
SELECT count(*) FROM (SELECT customer_id FROM orders UNION SELECT id FROM products) t;

-- from: INTERSECT below an aggregate
SELECT count(*) FROM (SELECT product_id FROM orders INTERSECT SELECT id FROM products) t;

-- from: a set-returning function below an aggregate
SELECT count(*) FROM (SELECT generate_series(1, quantity) FROM orders) t;
