-- from: Tableau, number of records: a query log of Tableau's in a public repository (tableau-query-origins)
SELECT SUM(1) AS "cnt:TEMP(row count)(290714814)(0):qk"
FROM "public"."orders" "orders"
HAVING (COUNT(1) > 0);

-- from: Tableau, a range filter on the measure: AdobeDocs/analytics-platform, BI extension use cases, transformations
SELECT "orders"."country" AS "country",
  SUM("orders"."amount") AS "sum:amount:ok",
  SUM("orders"."quantity") AS "sum:quantity:ok"
FROM "public"."orders" "orders"
WHERE (("orders"."created_on" >= (DATE '2024-01-01')) AND ("orders"."created_on" <= (DATE '2024-12-31')))
GROUP BY 1
HAVING ((SUM("orders"."amount") >= 9999.9999999998999) AND (SUM("orders"."amount") <= 2000000.00000002));

-- from: Tableau, a calculated dimension: AdobeDocs/analytics-platform, BI extension use cases, transformations
SELECT LOWER(CAST(CAST("orders"."country" AS TEXT) AS TEXT)) AS "Calculation_1562467608097775616",
  SUM("orders"."amount") AS "sum:amount:ok"
FROM "public"."orders" "orders"
GROUP BY 1;

-- from: Tableau, members of a filter: a query log of Tableau's in a public repository (tableau-query-origins)
SELECT "orders"."status" AS "status"
FROM "public"."orders" "orders"
GROUP BY 1
ORDER BY "status" ASC;

-- from: memory of Tableau, month of a date
SELECT DATE_TRUNC( 'MONTH', CAST("orders"."created_at" AS TIMESTAMP WITHOUT TIME ZONE) ) AS "tmn:created_at:ok",
  SUM("orders"."amount") AS "sum:amount:ok"
FROM "public"."orders" "orders"
GROUP BY 1;

-- from: memory of Tableau, parts of a date
SELECT CAST(EXTRACT(MONTH FROM "orders"."created_on") AS INTEGER) AS "mn:created_on:ok",
  CAST(EXTRACT(YEAR FROM "orders"."created_on") AS INTEGER) AS "yr:created_on:ok",
  SUM(1) AS "sum:Number of Records:ok"
FROM "public"."orders" "orders"
GROUP BY 1,
  2;

-- from: Tableau, a group of members: a query log of Tableau's in a public repository (tableau-query-origins)
SELECT (CASE WHEN ("orders"."country" IN ('AT', 'CH', 'DE')) THEN 'Europe' WHEN ("orders"."country" IN ('BR')) THEN 'America' ELSE "orders"."country" END) AS "Country (group)",
  SUM(1) AS "cnt:Number of Records:ok",
  AVG(CAST("orders"."amount" AS DOUBLE PRECISION)) AS "avg:amount:ok"
FROM "public"."orders" "orders"
WHERE (CASE WHEN ("orders"."quantity" = 0) THEN FALSE ELSE TRUE END)
GROUP BY 1;

-- from: Tableau, groups in nested subqueries: a query log of Tableau's in a public repository (tableau-query-origins)
SELECT "t0"."Calculation_9960813182850830" AS "Calculation_9960813182850830",
  SUM(1) AS "sum:Number of Records:ok"
FROM (
  SELECT (CASE WHEN ("orders"."quantity" <= 3) THEN 'few' WHEN (("orders"."quantity" >= 4) AND ("orders"."quantity" <= 6)) THEN 'some' ELSE 'many' END) AS "Calculation_9960813182850830"
  FROM "public"."orders" "orders"
  WHERE ("orders"."is_paid" = TRUE)
) "t0"
WHERE ("t0"."Calculation_9960813182850830" <> '')
GROUP BY 1;

-- from: memory of Tableau, distinct count
SELECT COUNT(DISTINCT "orders"."customer_id") AS "ctd:customer_id:ok"
FROM "public"."orders" "orders"
HAVING (COUNT(1) > 0);

-- from: Tableau, domain of a quantitative filter: Public BI benchmark, MLB
SELECT MIN("orders"."amount") AS "TEMP(none:amount:qk lower)(290714814)(1)", MAX("orders"."amount") AS "TEMP(none:amount:qk upper)(290714814)(1)"
FROM "public"."orders" "orders"
HAVING (COUNT(1) > 0);

-- from: memory of Tableau, a join in the data source
SELECT "products"."category" AS "category",
  SUM("orders"."amount") AS "sum:amount:ok"
FROM "public"."orders" "orders"
  INNER JOIN "public"."products" "products" ON ("orders"."product_id" = "products"."id")
GROUP BY 1;

-- from: memory of Tableau, custom SQL
SELECT "Custom SQL Query"."status" AS "status",
  AVG("Custom SQL Query"."amount") AS "avg:amount:ok"
FROM (
  SELECT status, amount FROM orders WHERE quantity > 1
) "Custom SQL Query"
GROUP BY 1;

-- from: memory of Tableau, a level of detail
SELECT "t0"."country" AS "country",
  "t1"."__measure__0" AS "sum:Calculation_1:ok"
FROM (
  SELECT "orders"."country" AS "country"
  FROM "public"."orders" "orders"
  GROUP BY 1
) "t0"
  INNER JOIN (
  SELECT "orders"."country" AS "country",
    SUM("orders"."amount") AS "__measure__0"
  FROM "public"."orders" "orders"
  GROUP BY 1
) "t1" ON ("t0"."country" = "t1"."country");

-- from: Tableau, rounding of an average per group: Apache Kylin's test queries, issue 3269
SELECT "t1"."X_measure__3" AS "X_measure__3", "t2"."X_measure__1" AS "X_measure__1"
FROM (SELECT round(AVG("t0"."X_measure__2"), 0) AS "X_measure__3" FROM (SELECT "country", round(SUM("amount"), 0) AS "X_measure__2" FROM "orders" GROUP BY "country") "t0" WHERE "t0"."X_measure__2" > 0 HAVING (COUNT(1) > 0)) "t1"
CROSS JOIN (SELECT round(SUM("amount"), 0) AS "X_measure__1" FROM "orders" HAVING (COUNT(1) > 0)) "t2";

-- from: memory of Tableau over psqlODBC, reading with a cursor
BEGIN;
declare "SQL_CUR0x55d0c8a0" cursor with hold for SELECT "orders"."status" AS "status", SUM("orders"."quantity") AS "sum:quantity:ok" FROM "public"."orders" "orders" GROUP BY 1 ORDER BY 1;
fetch 100 in "SQL_CUR0x55d0c8a0";
close "SQL_CUR0x55d0c8a0";
COMMIT;

-- from: memory of Tableau over psqlODBC, describing a query without reading it
SELECT * FROM (SELECT "orders"."country" AS "country", SUM(1) AS "n" FROM "public"."orders" "orders" GROUP BY 1) "T" WHERE 0 = 1;

-- from: memory of Tableau, connection probe with a temporary table
BEGIN;
CREATE LOCAL TEMPORARY TABLE "#Tableau_1_Connect" ( "COL" INTEGER ) ON COMMIT PRESERVE ROWS;
DROP TABLE "#Tableau_1_Connect";
COMMIT;

-- from: Tableau, the best n by a join: AdobeDocs/analytics-platform.en, bi-extension/limits.md
SELECT CAST("orders"."country" AS TEXT) AS "country",
  SUM("orders"."quantity") AS "sum:quantity:ok"
FROM "public"."orders" "orders"
  INNER JOIN (
  SELECT CAST("orders"."country" AS TEXT) AS "country",
    SUM("orders"."quantity") AS "$__alias__0"
  FROM "public"."orders" "orders"
  GROUP BY 1
  ORDER BY 2 DESC,
    1 ASC
  LIMIT 5
) "t0" ON (CAST("orders"."country" AS TEXT) = "t0"."country")
WHERE (("orders"."created_at" >= (TIMESTAMP '2024-01-01 00:00:00.000')) AND ("orders"."created_at" < (TIMESTAMP '2025-01-01 00:00:00.000')))
GROUP BY 1;

-- from: Tableau, a dimension and a measure in a range of times: AdobeDocs/analytics-platform.en, bi-extension/limits.md
SELECT CAST("orders"."country" AS TEXT) AS "country",
  SUM("orders"."quantity") AS "sum:quantity:ok"
FROM "public"."orders" "orders"
WHERE (("orders"."created_at" >= (TIMESTAMP '2024-01-01 00:00:00.000')) AND ("orders"."created_at" < (TIMESTAMP '2025-01-01 00:00:00.000')))
GROUP BY 1;

-- from: Tableau, several measures in a range of dates: AdobeDocs/analytics-platform.en, bi-extension/sort.md
SELECT CAST("orders"."status" AS TEXT) AS "status",
  SUM("orders"."quantity") AS "sum:quantity:ok",
  SUM("orders"."amount") AS "sum:amount:ok",
  SUM("orders"."discount") AS "sum:discount:ok"
FROM "public"."orders" "orders"
WHERE (("orders"."created_on" >= (DATE '2024-01-01')) AND ("orders"."created_on" <= (DATE '2024-02-01')))
GROUP BY 1;
