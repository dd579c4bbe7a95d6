-- from: Lightdash, a metric by a dimension and a table calculation: lightdash/lightdash, QueryBuilder snapshots, coreQueries (a simple metric query)
WITH
  metrics AS (
    SELECT
      "orders".priority AS "orders_priority",
      SUM("orders".quantity) AS "orders_metric1"
    FROM
      "shop"."public"."orders" AS "orders"
    GROUP BY
      1
  )
SELECT
  *,
  orders_priority + orders_metric1 AS "calc3"
FROM
  metrics
ORDER BY
  "orders_metric1" DESC
LIMIT
  10;

-- from: Lightdash, a metric by a joined dimension: lightdash/lightdash, QueryBuilder snapshots, coreQueries (a metric query across two tables)
-- groups
WITH
  metrics AS (
    SELECT
      "products".category AS "products_category",
      AVG("orders".amount) AS "orders_metric2"
    FROM
      "shop"."public"."orders" AS "orders"
      LEFT OUTER JOIN "shop"."public"."products" AS "products" ON ("orders".product_id) = ("products".id)
    GROUP BY
      1
  )
SELECT
  *,
  orders_metric2 * 2 AS "calc3"
FROM
  metrics
ORDER BY
  "orders_metric2" DESC
LIMIT
  10;

-- from: Lightdash, a metric alone: lightdash/lightdash, QueryBuilder snapshots, coreQueries (a metric-only query)
WITH
  metrics AS (
    SELECT
      SUM("orders".amount) AS "orders_metric1"
    FROM
      "shop"."public"."orders" AS "orders"
  )
SELECT
  *,
  1 + orders_metric1 AS "calc3"
FROM
  metrics
LIMIT
  10;

-- from: Lightdash, percent of total: lightdash/lightdash, QueryBuilder snapshots, postCalculationQueries
WITH
  metrics AS (
    SELECT
      "orders".country AS "orders_country",
      SUM("orders".amount) AS "orders_metric1"
    FROM
      "shop"."public"."orders" AS "orders"
    GROUP BY
      1
  ),
  postcalculation_metrics AS (
    SELECT
      *,
      (
        CAST(metrics."orders_metric1" AS FLOAT) / CAST(
          NULLIF(SUM(metrics."orders_metric1") OVER (), 0) AS FLOAT
        )
      ) AS "orders_percent_of_total_metric"
    FROM
      metrics
  )
SELECT
  *
FROM
  postcalculation_metrics
ORDER BY
  "orders_metric1" DESC
LIMIT
  10;

-- from: Lightdash, a running total: lightdash/lightdash, QueryBuilder snapshots, postCalculationQueries
WITH
  metrics AS (
    SELECT
      "orders".country AS "orders_country",
      "orders".status AS "orders_status",
      SUM("orders".amount) AS "orders_metric1"
    FROM
      "shop"."public"."orders" AS "orders"
    GROUP BY
      1,
      2
  ),
  postcalculation_metrics AS (
    SELECT
      *,
      SUM(metrics."orders_metric1") OVER (
        PARTITION BY
          "orders_status"
        ORDER BY
          "orders_metric1" DESC ROWS BETWEEN UNBOUNDED PRECEDING
          AND CURRENT ROW
      ) AS "orders_running_total_metric"
    FROM
      metrics
  )
SELECT
  *
FROM
  postcalculation_metrics
ORDER BY
  "orders_metric1" DESC
LIMIT
  10;

-- from: Lightdash, date zoom with a filter on the raw date: lightdash/lightdash, QueryBuilder snapshots, dateZoomQueries
SELECT
  DATE_TRUNC('month', "orders".created_at) AS "orders_created_at",
  COUNT("orders".id) AS "orders_order_count"
FROM
  "shop"."public"."orders" AS "orders"
WHERE
  (
    (
      (
        ("orders".created_at) >= ('2024-09-01')
        AND ("orders".created_at) <= ('2024-09-04')
      )
    )
  )
GROUP BY
  1
ORDER BY
  "orders_created_at"
LIMIT
  10;

-- from: Lightdash, a filter on a metric: lightdash/lightdash, QueryBuilder snapshots, filterQueries (a nested metric-filter query)
WITH
  metrics AS (
    SELECT
      "orders".status AS "orders_status",
      COUNT("orders".id) AS "orders_metric1"
    FROM
      "shop"."public"."orders" AS "orders"
    GROUP BY
      1
  )
SELECT
  *
FROM
  metrics
WHERE
  (
    (("orders_metric1") IS NOT NULL)
    AND (
      (("orders_metric1") IN (2250))
      OR (("orders_metric1") IN (1))
    )
  )
ORDER BY
  "orders_status" DESC
LIMIT
  10;

-- from: Lightdash, a filter on a joined dimension without metrics: lightdash/lightdash, QueryBuilder snapshots, filterQueries (a nested-filter query)
SELECT
  "orders".status AS "orders_status"
FROM
  "shop"."public"."orders" AS "orders"
  LEFT OUTER JOIN "shop"."public"."products" AS "products" ON ("orders".product_id) = ("products".id)
WHERE
  (
    (
      (("products".category) IN ('Seat'))
      OR (("products".category) IN ('Light'))
    )
    AND (("products".category) IS NOT NULL)
  )
GROUP BY
  1
ORDER BY
  "orders_status" DESC
LIMIT
  10;

-- from: Lightdash, a custom SQL dimension: lightdash/lightdash, QueryBuilder snapshots, customDimensionQueries
SELECT
  "orders".country AS "orders_country",
  ("orders".quantity < 5) AS "is_small",
  SUM("orders".amount) AS "orders_metric1"
FROM
  "shop"."public"."orders" AS "orders"
GROUP BY
  1,
  2
ORDER BY
  "orders_metric1" DESC
LIMIT
  10;

-- from: Lightdash, bins of a fixed width: lightdash/lightdash, QueryBuilder snapshots, customDimensionQueries (in Postgres)
-- groups
SELECT
  "orders".country AS "orders_country",
  (
    FLOOR("orders".quantity / 3) * 3 || ' - ' || (FLOOR("orders".quantity / 3) + 1) * 3 - 1
  ) AS "quantity_range",
  FLOOR("orders".quantity / 3) * 3 AS "quantity_range_order",
  SUM("orders".amount) AS "orders_metric1"
FROM
  "shop"."public"."orders" AS "orders"
GROUP BY
  1,
  2,
  3
ORDER BY
  "orders_metric1" DESC
LIMIT
  10;

-- from: Lightdash, the same period a year before: lightdash/lightdash, QueryBuilder snapshots, periodOverPeriodQueries (without filters)
WITH
  base_metrics AS (
    SELECT
      DATE_TRUNC('MONTH', "orders".created_on) AS "orders_created_on_month",
      SUM("orders".amount) AS "orders_total_order_amount"
    FROM
      "shop"."public"."orders" AS "orders"
    GROUP BY
      1
  ),
  pop_min_max_year_1__00jq2hag AS (
    SELECT
      MIN(base_metrics."orders_created_on_month") as min_date,
      MAX(base_metrics."orders_created_on_month") as max_date
    FROM
      base_metrics
  ),
  pop_metrics_year_1__00jq2hag AS (
    SELECT
      DATE_TRUNC('MONTH', "orders".created_on) AS "orders_created_on_month",
      SUM("orders".amount) AS "orders_total_order_amount__pop__year_1__snapshot"
    FROM
      "shop"."public"."orders" AS "orders"
      LEFT JOIN pop_min_max_year_1__00jq2hag ON TRUE
    WHERE
      DATE_TRUNC('MONTH', "orders".created_on) >= pop_min_max_year_1__00jq2hag.min_date - INTERVAL '1 MONTH'
      AND DATE_TRUNC('MONTH', "orders".created_on) <= pop_min_max_year_1__00jq2hag.max_date - INTERVAL '1 MONTH'
    GROUP BY
      1
  ),
  metrics AS (
    SELECT
      base_metrics.*,
      pop_metrics_year_1__00jq2hag."orders_total_order_amount__pop__year_1__snapshot" AS "orders_total_order_amount__pop__year_1__snapshot"
    FROM
      base_metrics
      LEFT JOIN pop_metrics_year_1__00jq2hag ON (
        base_metrics."orders_created_on_month" = pop_metrics_year_1__00jq2hag."orders_created_on_month" + INTERVAL '1 MONTH'
      )
  )
SELECT
  *
FROM
  metrics
ORDER BY
  "orders_created_on_month" DESC
LIMIT
  500;
