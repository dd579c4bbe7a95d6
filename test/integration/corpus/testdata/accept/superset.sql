-- from: memory of Apache Superset, time-series chart
-- ties
SELECT DATE_TRUNC('month', created_at) AS created_at, COUNT(*) AS count
FROM public.orders
GROUP BY DATE_TRUNC('month', created_at)
ORDER BY count DESC
LIMIT 10000;

-- from: memory of Apache Superset, bar chart with a metric by dimension
SELECT status AS status, COUNT(*) AS count, SUM(amount) AS "SUM(amount)"
FROM public.orders
GROUP BY status
ORDER BY "SUM(amount)" DESC
LIMIT 100;

-- from: memory of Apache Superset, temporal range
SELECT country AS country, SUM(quantity) AS sum__quantity
FROM public.orders
WHERE created_at >= TO_TIMESTAMP('2024-02-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND created_at < TO_TIMESTAMP('2024-08-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')
GROUP BY country
ORDER BY sum__quantity DESC
LIMIT 50000;

-- from: Apache Superset, series limit: a chart's SQL in a public repository (mme_inner__)
-- ties
SELECT DATE_TRUNC('day', created_at) AS __timestamp, country AS country, COUNT(*) AS count
FROM public.orders
JOIN (SELECT country AS country__, COUNT(*) AS mme_inner__ FROM public.orders GROUP BY country ORDER BY mme_inner__ DESC LIMIT 3) AS series_limit ON country = country__
GROUP BY DATE_TRUNC('day', created_at), country
ORDER BY count DESC
LIMIT 10000;

-- from: memory of Apache Superset, big number
SELECT SUM(amount) AS "Revenue"
FROM public.orders
WHERE is_paid IS true
LIMIT 50000;

-- from: memory of Apache Superset, virtual dataset
SELECT channel AS channel, AVG(amount) AS "AVG(amount)"
FROM (SELECT * FROM orders WHERE quantity > 2) AS virtual_table
GROUP BY channel
ORDER BY "AVG(amount)" DESC
LIMIT 1000;

-- from: memory of Apache Superset, filter values of a column
SELECT DISTINCT status AS column_values
FROM public.orders
LIMIT 10000;

-- from: memory of Apache Superset, custom SQL metric with a ratio
SELECT channel AS channel, SUM(amount) / NULLIF(SUM(quantity), 0) AS "price per piece"
FROM public.orders
GROUP BY channel
ORDER BY "price per piece" DESC
LIMIT 100;

-- from: memory of Apache Superset, count of distinct
SELECT country AS country, COUNT(DISTINCT customer_id) AS "COUNT_DISTINCT(customer_id)"
FROM public.orders
GROUP BY country
ORDER BY "COUNT_DISTINCT(customer_id)" DESC
LIMIT 100;

-- from: memory of Apache Superset, a HAVING filter
-- ties
SELECT country AS country, COUNT(*) AS count
FROM public.orders
GROUP BY country
HAVING ((COUNT(*) > 100))
ORDER BY count DESC
LIMIT 100;

-- from: Apache Superset, row count of a table chart: a test of Superset's in a public copy (rowcount_qry)
SELECT COUNT(*) AS rowcount
FROM (SELECT status AS status, COUNT(*) AS count FROM public.orders GROUP BY status LIMIT 10000) AS rowcount_qry;

-- from: Apache Superset, a virtual dataset by day and a dimension: a chart's SQL in a public repository (Key-insight-data-2)
-- ties
SELECT DATE_TRUNC('week', created_on) AS created_on, channel AS channel, SUM(quantity) AS "SUM(quantity)"
FROM (SELECT created_on, channel, quantity FROM public.orders WHERE status = 'new'
) AS virtual_table GROUP BY DATE_TRUNC('week', created_on), channel ORDER BY "SUM(quantity)" DESC
 LIMIT 1000;

-- from: Apache Superset, a virtual dataset that aggregates: a chart's SQL in a public repository (Key-insight-data-2)
-- ties
SELECT status AS status, SUM(share)*0.01 AS "Percentage"
FROM (WITH counts AS (
  SELECT
    status,
    COUNT(*) AS n
  FROM public.orders
  GROUP BY status
),
total AS (
  SELECT SUM(n) AS total_count FROM counts
)
SELECT
  counts.status,
  ROUND((counts.n * 100.0) / total.total_count, 2) AS share
FROM counts, total
ORDER BY share DESC
) AS virtual_table GROUP BY status ORDER BY "Percentage" DESC
 LIMIT 1000;
