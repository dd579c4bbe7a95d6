-- from: memory of Looker, a dimension and measures, DATE_TRUNC and row limit
SELECT
    (DATE(orders.created_at )) AS "orders.created_date",
    COUNT(*) AS "orders.count"
FROM public.orders  AS orders
GROUP BY
    1
ORDER BY
    1 DESC
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, month of a timestamp
SELECT
    (TO_CHAR(DATE_TRUNC('month', orders.created_at ), 'YYYY-MM')) AS "orders.created_month",
    COALESCE(SUM(orders.amount ), 0) AS "orders.total_amount"
FROM public.orders  AS orders
GROUP BY
    (DATE_TRUNC('month', orders.created_at ))
ORDER BY
    1 DESC
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, a filter on a measure
SELECT
    orders.status  AS "orders.status",
    AVG(orders.amount ) AS "orders.average_amount"
FROM public.orders  AS orders
GROUP BY
    1
HAVING COUNT(*) > 10
ORDER BY
    1
LIMIT 500;

-- from: Looker, symmetric aggregate over a fan-out: generated SQL in public repositories (SUM(DISTINCT ... MD5))
SELECT
    products.category  AS "products.category",
    COALESCE(COALESCE(CAST( ( SUM(DISTINCT (CAST(FLOOR(COALESCE(orders.amount ,0)*(1000000*1.0)) AS DECIMAL(65,0))) + ('x' || MD5(orders.id ::varchar))::bit(64)::bigint::DECIMAL(65)  *18446744073709551616 + ('x' || SUBSTR(MD5(orders.id ::varchar),17))::bit(64)::bigint::DECIMAL(65) ) - SUM(DISTINCT ('x' || MD5(orders.id ::varchar))::bit(64)::bigint::DECIMAL(65)  *18446744073709551616 + ('x' || SUBSTR(MD5(orders.id ::varchar),17))::bit(64)::bigint::DECIMAL(65)) )  AS DOUBLE PRECISION) / CAST((1000000*1.0) AS DOUBLE PRECISION), 0), 0) AS "orders.total_amount"
FROM public.orders  AS orders
LEFT JOIN public.products  AS products ON orders.product_id = products.id
GROUP BY
    1
ORDER BY
    2 DESC
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, a join on a view's key
-- groups
SELECT
    countries.region  AS "countries.region",
    COUNT(*) AS "orders.count"
FROM public.orders  AS orders
LEFT JOIN public.countries  AS countries ON orders.country = countries.code
GROUP BY
    1
ORDER BY
    1
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, a derived table in a WITH clause
WITH order_facts AS (SELECT country, COUNT(*) AS orders, SUM(amount) AS revenue FROM public.orders GROUP BY country)
SELECT
    order_facts.country  AS "order_facts.country",
    COALESCE(SUM(order_facts.revenue ), 0) AS "order_facts.revenue"
FROM order_facts
GROUP BY
    1
ORDER BY
    2 DESC
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, totals without dimensions
SELECT
    COUNT(*) AS "orders.count",
    COALESCE(SUM(orders.amount ), 0) AS "orders.total_amount"
FROM public.orders  AS orders
FETCH NEXT 1 ROWS ONLY;

-- from: memory of Looker, a measure with a filter
SELECT
    COUNT(CASE WHEN (orders.status ) = 'shipped' THEN 1 ELSE NULL END) AS "orders.count_shipped",
    COALESCE(SUM(CASE WHEN (orders.is_paid ) THEN orders.amount  ELSE NULL END), 0) AS "orders.paid_amount"
FROM public.orders  AS orders
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, a tier dimension
-- groups
SELECT
    CASE
WHEN orders.amount  < 0 THEN 'Below 0'
WHEN orders.amount  >= 0 AND orders.amount  < 100 THEN '0 to 99'
WHEN orders.amount  >= 100 AND orders.amount  < 300 THEN '100 to 299'
WHEN orders.amount  >= 300 THEN '300 or Above'
ELSE 'Undefined'
END AS "orders.amount_tier",
    COUNT(*) AS "orders.count"
FROM public.orders  AS orders
GROUP BY
    1
ORDER BY
    2 DESC
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, count distinct
SELECT
    COUNT(DISTINCT orders.customer_id ) AS "orders.customers"
FROM public.orders  AS orders
FETCH NEXT 500 ROWS ONLY;

-- from: memory of Looker, a yesno dimension
-- groups
SELECT
    CASE WHEN orders.amount > 200  THEN 'Yes' ELSE 'No' END
 AS "orders.is_large",
    AVG(orders.quantity ) AS "orders.average_quantity"
FROM public.orders  AS orders
GROUP BY
    (CASE WHEN orders.amount > 200  THEN true ELSE false END), 1
ORDER BY
    1
FETCH NEXT 500 ROWS ONLY;

-- from: Looker, a count, the first five: AdobeDocs/analytics-platform.en, bi-extension/limits.md
-- Looker Query Context '{"user_id":6,"history_slug":"a8f3b1ebd5712413ca1ae695090f70db","instance_slug":"71d4667f0b76c0011463658f45c3f7a3"}'
SELECT
    orders."country"  AS "orders.country",
    COUNT(*) AS "orders.count"
FROM
    "public"."orders" AS "orders"
WHERE ((( orders."created_on"  ) >= (DATE_TRUNC('day', DATE '2024-01-31')) AND ( orders."created_on"  ) < (DATE_TRUNC('day', DATE '2025-01-01'))))
GROUP BY
    1
ORDER BY
    2 DESC
FETCH NEXT 5 ROWS ONLY;

-- from: Looker, a custom measure in order: AdobeDocs/analytics-platform.en, bi-extension/sort.md
-- Looker Query Context '{"user_id":6,"history_slug":"fc83573987b999306eaf6e1a3f2cde70","instance_slug":"71d4667f0b76c0011463658f45c3f7a3"}'
SELECT
    orders."status"  AS "orders.status",
    COALESCE(SUM(CAST(( orders."amount"  ) AS DOUBLE PRECISION)), 0) AS "amount"
FROM
    "public"."orders" AS "orders"
WHERE ((( orders."created_on"  ) >= (DATE_TRUNC('day', DATE '2024-01-31')) AND ( orders."created_on"  ) < (DATE_TRUNC('day', DATE '2024-12-01'))))
GROUP BY
    1
ORDER BY
    2 DESC
FETCH NEXT 500 ROWS ONLY;

-- from: Looker, a transformed dimension and two measures: AdobeDocs/analytics-platform, bi-extension/transformations
SELECT
    LOWER((orders."country")) AS "country",
    COALESCE(SUM(CAST(( orders."amount"  ) AS DOUBLE PRECISION)), 0) AS "sum_of_amount",
    COALESCE(SUM(CAST(( orders."quantity"  ) AS DOUBLE PRECISION)), 0) AS "sum_of_quantity"
FROM public.orders  AS orders
WHERE ((( orders."created_on"  ) >= (DATE_TRUNC('day', DATE '2024-01-01')) AND ( orders."created_on"  ) < (DATE_TRUNC('day', DATE '2025-01-01'))))
GROUP BY
    1
ORDER BY
    2 DESC
FETCH NEXT 500 ROWS ONLY;
