-- from: Metabase, count of rows by a column: the remark from metabase/metabase, VisualizationError unit tests
-- Metabase:: userID: 1 queryType: MBQL queryHash: 9863b8284f269ce8763ad59b04cec26407a1dd74eebeb16cffdf1ef3e23b325a
SELECT "public"."orders"."status" AS "status", COUNT(*) AS "count" FROM "public"."orders" GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC;

-- from: memory of Metabase, several aggregations without breakout
SELECT COUNT(*) AS "count", SUM("public"."orders"."amount") AS "sum", AVG("public"."orders"."amount") AS "avg" FROM "public"."orders";

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

-- from: Metabase, a share of rows under a filter and a date range: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7033)
SELECT CAST(SUM(CASE WHEN "public"."orders"."channel" = 'web' THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "Share of the web" FROM "public"."orders" WHERE ("public"."orders"."is_paid" = TRUE) AND (("public"."orders"."status" = 'new') OR ("public"."orders"."status" = 'open') OR ("public"."orders"."status" = 'shipped')) AND "public"."orders"."created_on" BETWEEN date '2024-01-01' AND date '2024-12-31';

-- from: Metabase, breakout by year and a column: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7071)
SELECT "public"."orders"."status" AS "status", CAST(DATE_TRUNC('year', "public"."orders"."created_on") AS date) AS "created_on", COUNT(*) AS "count" FROM "public"."orders" WHERE ("public"."orders"."created_on" >= DATE_TRUNC('year', (NOW() + INTERVAL '-30 year'))) AND ("public"."orders"."created_on" < DATE_TRUNC('year', NOW())) AND ("public"."orders"."priority" = 1) AND (("public"."orders"."country" = 'AT') OR ("public"."orders"."country" = 'DE')) GROUP BY "public"."orders"."status", CAST(DATE_TRUNC('year', "public"."orders"."created_on") AS date) ORDER BY "public"."orders"."status" ASC, CAST(DATE_TRUNC('year', "public"."orders"."created_on") AS date) ASC;

-- from: Metabase, a filter "is not" keeps NULL: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7045)
SELECT "public"."orders"."country" AS "country", COUNT(*) AS "count" FROM "public"."orders" WHERE ("public"."orders"."rating" <> 3) OR ("public"."orders"."rating" IS NULL) GROUP BY "public"."orders"."country" ORDER BY "count" DESC, "public"."orders"."country" ASC;

-- from: Metabase, breakout by a column and a year: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7059)
SELECT "public"."orders"."channel" AS "channel", CAST(DATE_TRUNC('year', "public"."orders"."created_at") AS date) AS "created_at", COUNT(*) AS "count" FROM "public"."orders" WHERE ("public"."orders"."channel" IS NOT NULL) AND (("public"."orders"."channel" <> '') OR ("public"."orders"."channel" IS NULL)) AND (("public"."orders"."status" = 'new') OR ("public"."orders"."status" = 'open')) AND ("public"."orders"."created_at" < date '2025-01-01') GROUP BY "public"."orders"."channel", CAST(DATE_TRUNC('year', "public"."orders"."created_at") AS date) ORDER BY CAST(DATE_TRUNC('year', "public"."orders"."created_at") AS date) ASC, "public"."orders"."channel" ASC;

-- from: Metabase, a custom column of cases in a nested query: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7063)
SELECT "source"."Origin" AS "Origin", CAST(DATE_TRUNC('year', "source"."created_on") AS date) AS "created_on", COUNT(*) AS "count" FROM (SELECT "public"."orders"."created_on" AS "created_on", "public"."orders"."status" AS "status", "public"."orders"."priority" AS "priority", "public"."orders"."country" AS "country", CASE WHEN "public"."orders"."country" = 'AT' THEN 'Austria' WHEN "public"."orders"."country" = 'BR' THEN 'Brazil''s' WHEN "public"."orders"."country" LIKE 'D%' THEN 'Germany' ELSE 'Others' END AS "Origin" FROM "public"."orders" WHERE ("public"."orders"."created_on" < DATE_TRUNC('year', NOW())) AND ("public"."orders"."priority" = 2)) AS "source" GROUP BY "source"."Origin", CAST(DATE_TRUNC('year', "source"."created_on") AS date) ORDER BY "source"."Origin" ASC, CAST(DATE_TRUNC('year', "source"."created_on") AS date) ASC;

-- from: Metabase, a sum ordered by its name: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7066)
SELECT "public"."orders"."status" AS "status", SUM("public"."orders"."quantity") AS "Number of all pieces" FROM "public"."orders" WHERE "public"."orders"."rating" IS NOT NULL GROUP BY "public"."orders"."status" ORDER BY "Number of all pieces" DESC, "public"."orders"."status" ASC;

-- from: Metabase, a share over a nested query's custom column: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7083)
SELECT "source"."country" AS "country", CAST(SUM(CASE WHEN "source"."Large" = 'large orders' THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "Share of large orders" FROM (SELECT "public"."orders"."country" AS "country", "public"."orders"."quantity" AS "quantity", CASE WHEN "public"."orders"."quantity" > 4 THEN 'large orders' ELSE 'small orders' END AS "Large" FROM "public"."orders") AS "source" GROUP BY "source"."country" ORDER BY "source"."country" ASC;

-- from: Metabase, count of distinct over a join: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7084)
SELECT count(distinct "public"."orders"."customer_id") AS "count" FROM "public"."orders" LEFT JOIN "public"."products" AS "Products" ON "public"."orders"."product_id" = "Products"."id" WHERE ("public"."orders"."rating" IS NOT NULL) AND ("Products"."weight" IS NOT NULL);

-- from: Metabase, a share under a filter that keeps NULL: gip-inclusion/autometa, knowledge/stats/cards/topic-prescripteurs.md (7086)
SELECT CAST(SUM(CASE WHEN ("public"."orders"."rating" <> 1) OR ("public"."orders"."rating" IS NULL) THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "Not the worst" FROM "public"."orders" WHERE "public"."orders"."shipped_at" IS NOT NULL;

-- from: Metabase, several shares by month and a pivot grouping: gip-inclusion/autometa, knowledge/stats/cards/topic-candidatures.md (821)
SELECT DATE_TRUNC('month', CAST("source"."created_on" AS timestamp)) AS "created_on", "source"."pivot-grouping" AS "pivot-grouping", CAST(SUM(CASE WHEN "source"."priority" = 1 THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "expression", CAST(SUM(CASE WHEN "source"."is_gift" THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "expression_2"
FROM (SELECT "public"."orders"."priority" AS "priority", "public"."orders"."is_gift" AS "is_gift", "public"."orders"."created_on" AS "created_on", ABS(0) AS "pivot-grouping"
FROM "public"."orders"
WHERE (("public"."orders"."rating" <> 0)
OR ("public"."orders"."rating" IS NULL))
AND (("public"."orders"."status" = 'new')
OR ("public"."orders"."status" = 'shipped'))) AS "source"
GROUP BY DATE_TRUNC('month', CAST("source"."created_on" AS timestamp)), "source"."pivot-grouping"
ORDER BY DATE_TRUNC('month', CAST("source"."created_on" AS timestamp)) ASC, "source"."pivot-grouping" ASC;

-- from: Metabase, breakout by a column and a month: gip-inclusion/autometa, knowledge/stats/cards/topic-candidatures.md (1391)
SELECT "public"."orders"."status" AS "status", CAST(DATE_TRUNC('month', "public"."orders"."created_on") AS date) AS "created_on", COUNT(*) AS "count"
FROM "public"."orders"
WHERE "public"."orders"."segment" = 'consumer'
GROUP BY "public"."orders"."status", CAST(DATE_TRUNC('month', "public"."orders"."created_on") AS date)
ORDER BY "public"."orders"."status" ASC, CAST(DATE_TRUNC('month', "public"."orders"."created_on") AS date) ASC;

-- from: Metabase, a join to a nested query of columns: gip-inclusion/autometa, knowledge/stats/cards/topic-candidatures.md (823)
-- groups
SELECT "source"."Kind" AS "Kind", COUNT(*) AS "count", CAST(SUM(CASE WHEN "source"."status" = 'shipped' THEN 1 ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(COUNT(*) AS DOUBLE PRECISION), 0.0) AS "% shipped"
FROM (SELECT "public"."orders"."status" AS "status", CONCAT("Products"."category", ' - ', "Products"."active") AS "Kind"
FROM "public"."orders" LEFT
JOIN (SELECT "public"."products"."id" AS "id", "public"."products"."category" AS "category", "public"."products"."active" AS "active"
FROM "public"."products") AS "Products" ON "public"."orders"."product_id" = "Products"."id") AS "source"
GROUP BY "source"."Kind"
ORDER BY "source"."Kind" ASC;

-- from: Metabase, sums under conditions as parts of a sum: gip-inclusion/autometa, knowledge/stats/cards/topic-etp-effectifs.md (2579)
SELECT "public"."orders"."priority" AS "priority", CAST(SUM(CASE WHEN "public"."orders"."channel" = 'web' THEN "public"."orders"."amount" ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(SUM("public"."orders"."amount") AS DOUBLE PRECISION), 0.0) AS "Part of the web", CAST(SUM(CASE WHEN "public"."orders"."channel" = 'shop' THEN "public"."orders"."amount" ELSE 0.0 END) AS DOUBLE PRECISION) / NULLIF(CAST(SUM("public"."orders"."amount") AS DOUBLE PRECISION), 0.0) AS "Part of the shop"
FROM "public"."orders"
WHERE ("public"."orders"."channel" = 'shop')
OR ("public"."orders"."channel" = 'web')
GROUP BY "public"."orders"."priority"
ORDER BY "public"."orders"."priority" ASC;

-- from: Metabase, an average by two columns: gip-inclusion/autometa, knowledge/stats/cards/topic-etp-effectifs.md (3439)
SELECT "public"."orders"."segment" AS "segment", "public"."orders"."status" AS "status", AVG("public"."orders"."amount") AS "avg"
FROM "public"."orders"
WHERE (("public"."orders"."segment" = 'consumer')
OR ("public"."orders"."segment" = 'business'))
AND ("public"."orders"."country" = 'DE')
GROUP BY "public"."orders"."segment", "public"."orders"."status"
ORDER BY "public"."orders"."status" ASC, "public"."orders"."segment" ASC;

-- from: Metabase, Offset of a count: metabase/metabase docs, questions/query-builder/expressions/offset
SELECT
  "source"."created_at" AS "created_at",
  COUNT(*) AS "count",
  LAG(COUNT(*), 1) OVER (

ORDER BY
      "source"."created_at" ASC
  ) AS "Order count previous period"
FROM
  (
    SELECT
      DATE_TRUNC('month', "public"."orders"."created_at") AS "created_at"
    FROM
      "public"."orders"
  ) AS "source"
GROUP BY
  "source"."created_at"
ORDER BY
  "source"."created_at" ASC;

-- from: Metabase, Offset of a sum and a filter after it: metabase.com learn, comparing time periods
SELECT
  "source"."created_at" AS "created_at",
  "source"."sum" AS "sum",
  "source"."1 year ago" AS "1 year ago"
FROM
  ( SELECT
      "source"."created_at" AS "created_at",
      SUM("source"."amount") AS "sum",

      LAG(SUM("source"."amount"), 12) OVER (
         ORDER BY "source"."created_at" ASC
      ) AS "1 year ago"

    FROM
      ( SELECT
          DATE_TRUNC('month', "public"."orders"."created_at") AS "created_at",
          "public"."orders"."amount" AS "amount"
        FROM
          "public"."orders"
      ) AS "source"
    GROUP BY
      "source"."created_at"
    ORDER BY
      "source"."created_at" ASC
  ) AS "source"
WHERE
  ("source"."created_at" >= DATE_TRUNC('year', timestamp '2024-07-01'))
   AND (
    "source"."created_at" < DATE_TRUNC('year', timestamp '2025-07-01') );
