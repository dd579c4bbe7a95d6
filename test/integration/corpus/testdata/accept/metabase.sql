-- from: Metabase, count of rows by a column: the remark from metabase/metabase, VisualizationError unit tests
-- Metabase:: userID: 1 queryType: MBQL queryHash: 9863b8284f269ce8763ad59b04cec26407a1dd74eebeb16cffdf1ef3e23b325a
SELECT "public"."orders"."status" AS "status", COUNT(*) AS "count" FROM "public"."orders" GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC;

-- from: memory of Metabase, several aggregations without breakout
SELECT COUNT(*) AS "count", SUM("public"."orders"."amount") AS "sum", AVG("public"."orders"."amount") AS "avg" FROM "public"."orders";

-- from: memory of Metabase, breakout by month
SELECT CAST(DATE_TRUNC('month', "public"."orders"."created_at") AS date) AS "created_at", COUNT(*) AS "count"
FROM "public"."orders"
GROUP BY CAST(DATE_TRUNC('month', "public"."orders"."created_at") AS date)
ORDER BY CAST(DATE_TRUNC('month', "public"."orders"."created_at") AS date) ASC;

-- from: memory of Metabase, breakout by week that starts on Sunday
SELECT CAST((CAST(DATE_TRUNC('week', (CAST("public"."orders"."created_at" AS timestamp) + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day') AS date) AS "created_at",
  SUM("public"."orders"."amount") AS "sum"
FROM "public"."orders"
GROUP BY CAST((CAST(DATE_TRUNC('week', (CAST("public"."orders"."created_at" AS timestamp) + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day') AS date)
ORDER BY CAST((CAST(DATE_TRUNC('week', (CAST("public"."orders"."created_at" AS timestamp) + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day') AS date) ASC;

-- from: memory of Metabase, breakout by hour of day and day of week
SELECT EXTRACT(hour FROM "public"."orders"."created_at") AS "created_at", COUNT(*) AS "count"
FROM "public"."orders" GROUP BY EXTRACT(hour FROM "public"."orders"."created_at") ORDER BY EXTRACT(hour FROM "public"."orders"."created_at") ASC;

-- from: memory of Metabase, breakout by quarter of year
SELECT CAST(EXTRACT(quarter FROM "public"."orders"."created_at") AS integer) AS "created_at", AVG("public"."orders"."amount") AS "avg"
FROM "public"."orders" GROUP BY CAST(EXTRACT(quarter FROM "public"."orders"."created_at") AS integer)
ORDER BY CAST(EXTRACT(quarter FROM "public"."orders"."created_at") AS integer) ASC;

-- from: memory of Metabase, a filter on a date range
SELECT COUNT(*) AS "count" FROM "public"."orders"
WHERE ("public"."orders"."created_at" >= timestamp '2024-03-01 00:00:00.000') AND ("public"."orders"."created_at" < timestamp '2024-06-01 00:00:00.000');

-- from: memory of Metabase, the same filter through JDBC's parameters
-- $1: 2024-03-01
-- $2: 2024-06-01
SELECT COUNT(*) AS "count" FROM "public"."orders" WHERE ("public"."orders"."created_on" >= $1 AND "public"."orders"."created_on" < $2);

-- from: memory of Metabase, nested question
SELECT "source"."status" AS "status", "source"."count" AS "count" FROM (
  SELECT "public"."orders"."status" AS "status", COUNT(*) AS "count" FROM "public"."orders" GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC
) AS "source" WHERE "source"."count" > 10 LIMIT 1048575;

-- from: memory of Metabase, aggregation over a nested question of rows
SELECT "source"."country" AS "country", COUNT(*) AS "count" FROM (
  SELECT "public"."orders"."id" AS "id", "public"."orders"."country" AS "country", "public"."orders"."amount" AS "amount" FROM "public"."orders"
) AS "source" GROUP BY "source"."country" ORDER BY "source"."country" ASC;

-- from: memory of Metabase, a join on a foreign key
-- groups
SELECT "Products"."category" AS "Products__category", COUNT(*) AS "count" FROM "public"."orders"
LEFT JOIN "public"."products" AS "Products" ON "public"."orders"."product_id" = "Products"."id"
WHERE "public"."orders"."product_id" IS NOT NULL
GROUP BY "Products"."category" ORDER BY "Products"."category" ASC;

-- from: memory of Metabase, a custom expression and its sum
SELECT SUM("source"."total") AS "sum" FROM (
  SELECT "public"."orders"."amount" AS "amount", "public"."orders"."amount" + "public"."orders"."tax" AS "total" FROM "public"."orders"
) AS "source";

-- from: memory of Metabase, share of rows for which a condition holds
SELECT SUM(CASE WHEN "public"."orders"."is_paid" = TRUE THEN 1 ELSE 0.0 END) / COUNT(*) AS "share" FROM "public"."orders";

-- from: memory of Metabase, CountIf and SumIf
SELECT SUM(CASE WHEN "public"."orders"."amount" > 100 THEN 1 ELSE 0.0 END) AS "count-where",
  SUM(CASE WHEN "public"."orders"."status" = 'shipped' THEN "public"."orders"."amount" ELSE 0.0 END) AS "sum-where" FROM "public"."orders";

-- from: memory of Metabase, distinct values of a column
SELECT COUNT(DISTINCT "public"."orders"."customer_id") AS "count" FROM "public"."orders";

-- from: memory of Metabase, median and percentile
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "public"."orders"."amount") AS "median" FROM "public"."orders";

-- from: memory of Metabase, standard deviation
SELECT STDDEV_POP("public"."orders"."amount") AS "stddev" FROM "public"."orders";

-- from: memory of Metabase, cumulative count
SELECT "public"."orders"."country" AS "country", SUM(COUNT(*)) OVER (ORDER BY "public"."orders"."country" ASC ROWS UNBOUNDED PRECEDING) AS "count"
FROM "public"."orders" GROUP BY "public"."orders"."country" ORDER BY "public"."orders"."country" ASC;

-- from: memory of Metabase, binning by number
SELECT (FLOOR((("public"."orders"."quantity" - 0) / 3)) * 3) + 0 AS "quantity", COUNT(*) AS "count" FROM "public"."orders"
GROUP BY (FLOOR((("public"."orders"."quantity" - 0) / 3)) * 3) + 0 ORDER BY (FLOOR((("public"."orders"."quantity" - 0) / 3)) * 3) + 0 ASC;

-- from: memory of Metabase, case-insensitive contains
SELECT COUNT(*) AS "count" FROM "public"."orders" WHERE LOWER("public"."orders"."note") LIKE '%call%';
