-- from: psql, \d of an ordinary table
\d countries

-- from: psql, \d of a protected table
\d orders

-- from: psql, \d+ of a protected table
-- masked
\d+ orders

-- from: psql, \dt
\dt

-- from: psql, \dt+ shows sizes
-- masked
\dt+

-- from: psql, \di+ shows sizes
-- masked
\di+

-- from: psql, \l+ shows the size of databases that one may connect to
-- masked
\l+

-- from: psql, \dn+
\dn+

-- from: psql, \dv
\dv

-- from: psql, \d of a view
\d+ european_countries

-- from: psql, \df of a schema without functions
\df public.*

-- from: psql, \du
\du

-- from: psql, \dp
\dp

-- from: psql, \gdesc of an aggregate over a protected table
SELECT status, avg(amount) AS a, count(*) FROM orders GROUP BY status \gdesc

-- from: psql, \g with an expanded display
SELECT status, count(*) FROM orders GROUP BY status ORDER BY status \gx

-- from: psql, \crosstabview
SELECT status, channel, count(*) FROM orders GROUP BY status, channel ORDER BY 1, 2 \crosstabview

-- from: psql, \gset and a variable
SELECT count(*) AS n FROM orders \gset x_
SELECT :x_n > 0;

-- from: psql, \bind
\set EXTENDED 1
SELECT count(*) FROM orders WHERE status = 'new';

-- from: psql, a variable that is quoted
\set which shipped
SELECT count(*) FROM orders WHERE status = :'which';

-- from: psql, \copy of a query
\copy (SELECT status, count(*) FROM orders GROUP BY status ORDER BY status) TO STDOUT (FORMAT csv, HEADER)
