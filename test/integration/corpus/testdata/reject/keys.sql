-- from: undeclared keys
SELECT customer_id, count(*) FROM orders GROUP BY customer_id;

-- from: undeclared keys
SELECT note, count(*) FROM orders GROUP BY note;

-- from: undeclared keys
SELECT id FROM orders GROUP BY id;

-- from: undeclared keys beside a declared one
SELECT status, amount, count(*) FROM orders GROUP BY status, amount;

-- from: an expression of an undeclared key
SELECT round(amount / 100), count(*) FROM orders GROUP BY 1;

-- from: an expression of an undeclared key
SELECT left(note, 1), count(*) FROM orders GROUP BY left(note, 1);

-- from: too many combinations
SELECT created_at, status, country, count(*) FROM orders GROUP BY created_at, status, country;

-- from: a column that is no key
SELECT status, amount, count(*) FROM orders GROUP BY status;

-- from: a column that is no key, in HAVING
SELECT status, count(*) FROM orders GROUP BY status HAVING amount > 1;

-- from: a column that is no key, in ORDER BY
SELECT status, count(*) FROM orders GROUP BY status ORDER BY amount;

-- from: a column beside an aggregate
SELECT status, count(*) FROM orders;

-- from: a position that is not there
SELECT status, count(*) FROM orders GROUP BY 3;

-- from: a whole row as a key
SELECT count(*) FROM orders o GROUP BY o;

-- from: a star in a grouped query
SELECT *, count(*) FROM orders GROUP BY status;

-- from: a random key
SELECT count(*) FROM orders GROUP BY random();

-- from: the key of a subquery
SELECT count(*) FROM orders GROUP BY (SELECT 1);

-- from: a column that does not exist
SELECT count(nothing) FROM orders;

-- from: a table that is not in FROM
SELECT count(x.id) FROM orders;

-- from: grouping of what is not grouped by
SELECT grouping(channel) FROM orders GROUP BY status;
