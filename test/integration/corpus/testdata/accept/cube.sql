-- from: Cube schema-compiler 1.7.43, recorded: count by dimension
SELECT
      "orders".status "orders__status", count("orders".id) "orders__count", sum("orders".amount) "orders__total"
    FROM
      public.orders AS "orders"  GROUP BY 1 ORDER BY 3 DESC LIMIT 100;

-- from: Cube schema-compiler 1.7.43, recorded: by month in a date range
-- $1: 2024-01-01T00:00:00.000Z
-- $2: 2024-06-30T23:59:59.999Z
SELECT
      date_trunc('month', ("orders".created_at::timestamptz AT TIME ZONE 'UTC')) "orders__created_at_month", count("orders".id) "orders__count"
    FROM
      public.orders AS "orders"  WHERE ("orders".created_at >= $1::timestamptz AND "orders".created_at <= $2::timestamptz) GROUP BY 1 ORDER BY 1 ASC;

-- from: Cube schema-compiler 1.7.43, recorded: time and dimension
-- ties
SELECT
      "orders".country "orders__country", date_trunc('quarter', ("orders".created_at::timestamptz AT TIME ZONE 'UTC')) "orders__created_at_quarter", avg("orders".amount) "orders__mean"
    FROM
      public.orders AS "orders"  GROUP BY 1, 2 ORDER BY 1 ASC;

-- from: Cube schema-compiler 1.7.43, recorded: filters
-- $1: new
-- $2: open
-- $3: 3
-- $4: JP
SELECT
      sum("orders".amount) "orders__total"
    FROM
      public.orders AS "orders"  WHERE ("orders".status IN ($1, $2)) AND ("orders".quantity >= $3) AND ("orders".country <> $4 OR "orders".country IS NULL);

-- from: Cube schema-compiler 1.7.43, recorded: or filters
-- $1: ship
-- $2: true
-- $3: 4
SELECT
      count("orders".id) "orders__count"
    FROM
      public.orders AS "orders"  WHERE (("orders".status ILIKE '%' || $1 || '%') OR (("orders".is_paid = $2) AND ("orders".quantity < $3)));

-- from: Cube schema-compiler 1.7.43, recorded: measure filter
-- $1: 1000
SELECT
      "orders".country "orders__country", count("orders".id) "orders__count"
    FROM
      public.orders AS "orders"  GROUP BY 1 HAVING (sum("orders".amount) > $1) ORDER BY 1 ASC;

-- from: Cube schema-compiler 1.7.43, recorded: join
-- groups
SELECT
      "products".category "products__category", sum("orders".amount) "orders__total"
    FROM
      public.orders AS "orders"
LEFT JOIN public.products AS "products" ON "orders".product_id = "products".id  GROUP BY 1 ORDER BY 1 ASC;

-- from: Cube schema-compiler 1.7.43, recorded: ratio and filtered measure
-- ties
SELECT
      "orders".country "orders__country", count(CASE WHEN ("orders".is_paid) THEN "orders".id END) "orders__paid", 1.0 * count(CASE WHEN ("orders".is_paid) THEN "orders".id END) / NULLIF(count("orders".id), 0) "orders__share"
    FROM
      public.orders AS "orders"  GROUP BY 1 ORDER BY 2 DESC;

-- from: Cube schema-compiler 1.7.43, recorded: case dimension, segment
SELECT
      CASE
    WHEN "orders".quantity < 3 THEN 'few'
WHEN "orders".quantity < 7 THEN 'some' ELSE 'many' END "orders__size", count("orders".id) "orders__count"
    FROM
      public.orders AS "orders"  WHERE ("orders".amount > 200) GROUP BY 1 ORDER BY 2 DESC;

-- from: Cube schema-compiler 1.7.43, recorded: count distinct
SELECT
      count(distinct "orders".customer_id) "orders__customers"
    FROM
      public.orders AS "orders";

-- from: Cube schema-compiler 1.7.43, recorded: rolling window
-- $1: 2024-06-30T23:59:59.999
SELECT q_0."orders__created_at_month", "orders__running" "orders__running" FROM (SELECT "orders.created_at_series"."date_from" "orders__created_at_month", sum("orders__running") "orders__running" FROM (SELECT date_from::timestamp as "date_from", date_to::timestamp as "date_to" FROM (VALUES ('2024-01-01T00:00:00.000', '2024-01-31T23:59:59.999'),('2024-02-01T00:00:00.000', '2024-02-29T23:59:59.999'),('2024-03-01T00:00:00.000', '2024-03-31T23:59:59.999'),('2024-04-01T00:00:00.000', '2024-04-30T23:59:59.999'),('2024-05-01T00:00:00.000', '2024-05-31T23:59:59.999'),('2024-06-01T00:00:00.000', '2024-06-30T23:59:59.999')) AS dates (date_from, date_to)) AS "orders.created_at_series" LEFT JOIN (SELECT date_trunc('month', ("orders_running_cumulative__orders".created_at::timestamptz AT TIME ZONE 'UTC')) "orders__created_at_month", sum("orders_running_cumulative__orders".amount) "orders__running" FROM public.orders AS "orders_running_cumulative__orders"  WHERE (("orders_running_cumulative__orders".created_at::timestamptz AT TIME ZONE 'UTC') <= $1::timestamp) GROUP BY 1) AS "orders_running_cumulative__base" ON "orders_running_cumulative__base"."orders__created_at_month" <= "orders.created_at_series"."date_to" GROUP BY 1) AS q_0  ORDER BY 1 ASC;

-- from: Cube schema-compiler 1.7.43, recorded: multiplied measures
SELECT q_0."products__category", "products__weight" "products__weight", "orders__count" "orders__count" FROM (SELECT "main__products".category "products__category", count("main__orders".id) "orders__count" FROM public.orders AS "main__orders"
LEFT JOIN public.products AS "main__products" ON "main__orders".product_id = "main__products".id  GROUP BY 1) AS q_0 INNER JOIN (SELECT "keys"."products__category", sum("products_key__products".list_price) "products__weight" FROM (SELECT DISTINCT "products_key__products".category "products__category", "products_key__products".id "products__id" FROM public.orders AS "products_key__orders"
LEFT JOIN public.products AS "products_key__products" ON "products_key__orders".product_id = "products_key__products".id ) AS "keys"
LEFT JOIN public.products AS "products_key__products" ON "keys"."products__id" = "products_key__products".id
              GROUP BY 1) AS q_1 ON (q_0."products__category" = q_1."products__category" OR (q_0."products__category" IS NULL AND q_1."products__category" IS NULL)) ORDER BY 2 DESC;

-- from: Cube schema-compiler 1.7.43, recorded: offset
SELECT
      "orders".country "orders__country", sum("orders".amount) "orders__total"
    FROM
      public.orders AS "orders"  GROUP BY 1 ORDER BY 2 DESC LIMIT 2 OFFSET 1;
