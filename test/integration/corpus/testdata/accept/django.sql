-- from: Django 3.2.25, recorded: count with a filter
SELECT COUNT(*) AS "__count" FROM "orders" WHERE "orders"."status" = 'shipped';

-- from: Django 3.2.25, recorded: exclude
SELECT COUNT(*) AS "__count" FROM "orders" WHERE (NOT ("orders"."note" IS NULL) AND NOT ("orders"."status" = 'new'));

-- from: Django 3.2.25, recorded: aggregate of several
SELECT SUM("orders"."amount") AS "amount__sum", AVG("orders"."quantity") AS "quantity__avg", COUNT("orders"."rating") AS "rating__count" FROM "orders";

-- from: Django 3.2.25, recorded: values and annotate, ordered by an aggregate
SELECT "orders"."country", COUNT("orders"."id") AS "n", SUM("orders"."amount") AS "total" FROM "orders" GROUP BY "orders"."country" ORDER BY "total" DESC;

-- from: Django 3.2.25, recorded: a filter on an annotation
SELECT "orders"."status", "orders"."channel", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."status", "orders"."channel" HAVING COUNT("orders"."id") > 100 ORDER BY "orders"."status" ASC, "orders"."channel" ASC;

-- from: Django 3.2.25, recorded: aggregates with filters
SELECT "orders"."country", COUNT("orders"."id") FILTER (WHERE "orders"."is_paid") AS "paid", AVG("orders"."amount") FILTER (WHERE ("orders"."quantity" >= 3 OR "orders"."rating" IS NULL)) AS "share" FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC;

-- from: Django 3.2.25, recorded: TruncMonth of a date
SELECT DATE_TRUNC('month', "orders"."created_on") AS "month", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY DATE_TRUNC('month', "orders"."created_on") ORDER BY "month" ASC;

-- from: Django 3.2.25, recorded: TruncDate with a time zone
SELECT ("orders"."created_at" AT TIME ZONE 'UTC')::date AS "day", SUM("orders"."amount") AS "s" FROM "orders" GROUP BY ("orders"."created_at" AT TIME ZONE 'UTC')::date ORDER BY "day" ASC;

-- from: Django 3.2.25, recorded: ExtractMonth as a value
SELECT EXTRACT('month' FROM "orders"."created_on") AS "month", SUM("orders"."quantity") AS "s" FROM "orders" GROUP BY EXTRACT('month' FROM "orders"."created_on") ORDER BY "month" ASC;

-- from: Django 3.2.25, recorded: year and month lookups
SELECT COUNT(*) AS "__count" FROM "orders" WHERE (EXTRACT('month' FROM "orders"."created_on") = 3 AND "orders"."created_on" BETWEEN '2024-01-01'::date AND '2024-12-31'::date);

-- from: Django 3.2.25, recorded: icontains or startswith
SELECT COUNT(*) AS "__count" FROM "orders" WHERE (UPPER("orders"."note"::text) LIKE UPPER('%call%') OR "orders"."note"::text LIKE 'urgent%');

-- from: Django 3.2.25, recorded: iexact, in, range
SELECT COUNT(*) AS "n" FROM "orders" WHERE ("orders"."country" IN ('AT', 'DE') AND "orders"."quantity" BETWEEN 2 AND 5 AND UPPER("orders"."status"::text) = UPPER('NEW'));

-- from: Django 3.2.25, recorded: a related field
SELECT "products"."category", AVG("orders"."amount") AS "mean" FROM "orders" LEFT OUTER JOIN "products" ON ("orders"."product_id" = "products"."id") GROUP BY "products"."category" ORDER BY "products"."category" ASC;

-- from: Django 3.2.25, recorded: filters on a related table
SELECT SUM("orders"."amount") AS "total" FROM "orders" INNER JOIN "products" ON ("orders"."product_id" = "products"."id") WHERE ("products"."active" AND "products"."category" = 'Light');

-- from: Django 3.2.25, recorded: count of distinct values
SELECT COUNT(*) FROM (SELECT DISTINCT "orders"."country" AS Col1 FROM "orders") subquery;

-- from: Django 3.2.25, recorded: annotate, then aggregate
SELECT AVG("n"), MAX("n") FROM (SELECT "orders"."country" AS Col1, COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."country") subquery;

-- from: Django 3.2.25, recorded: F expressions
SELECT SUM(("orders"."amount" * "orders"."quantity")) AS "total", SUM(("orders"."amount" * (1 - "orders"."discount"))) AS "net" FROM "orders";

-- from: Django 3.2.25, recorded: Case and When in aggregates
SELECT COUNT(CASE WHEN "orders"."amount" > 200 THEN 1 ELSE NULL END) AS "big", SUM(CASE WHEN "orders"."status" = 'returned' THEN 0 ELSE "orders"."quantity" END) AS "w" FROM "orders";

-- from: Django 3.2.25, recorded: grouping by Case
SELECT CASE WHEN "orders"."quantity" < 3 THEN 'few' WHEN "orders"."quantity" < 7 THEN 'some' ELSE 'many' END AS "size", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY CASE WHEN "orders"."quantity" < 3 THEN 'few' WHEN "orders"."quantity" < 7 THEN 'some' ELSE 'many' END ORDER BY "size" ASC;

-- from: Django 3.2.25, recorded: Coalesce around Sum
SELECT COALESCE(SUM("orders"."discount"), 0.0) AS "d" FROM "orders";

-- from: Django 3.2.25, recorded: Window over an annotated queryset
SELECT "orders"."country", COUNT("orders"."id") AS "n", RANK() OVER (ORDER BY COUNT("orders"."id") DESC) AS "rank" FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC;

-- from: Django 3.2.25, recorded: an annotation by Subquery of OuterRef
SELECT "products"."id", "products"."name", "products"."category", "products"."active", "products"."list_price", (SELECT COUNT(*) AS "c" FROM "orders" U0 WHERE U0."product_id" = "products"."id" GROUP BY U0."product_id") AS "n" FROM "products" ORDER BY "products"."id" ASC;

-- from: Django 3.2.25, recorded: a filter by Exists
SELECT COUNT(*) AS "__count" FROM "orders" WHERE EXISTS(SELECT (1) AS "a" FROM "products" U0 WHERE (U0."active" AND U0."id" = "orders"."product_id") LIMIT 1);

-- from: Django 3.2.25, recorded: in of a queryset
SELECT AVG("orders"."amount") AS "amount__avg" FROM "orders" WHERE "orders"."product_id" IN (SELECT U0."id" FROM "products" U0 WHERE U0."category" = 'Seat');

-- from: Django 3.2.25, recorded: exclude on a related table
SELECT COUNT(*) AS "__count" FROM "orders" LEFT OUTER JOIN "products" ON ("orders"."product_id" = "products"."id") WHERE NOT ("products"."category" = 'Seat' AND "products"."category" IS NOT NULL);

-- from: Django 3.2.25, recorded: Paginator counts groups
SELECT COUNT(*) FROM (SELECT "orders"."country" AS Col1, COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."country") subquery;

-- from: Django 3.2.25, recorded: Paginator reads a page
SELECT "orders"."country", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC LIMIT 2 OFFSET 2;

-- from: Django 3.2.25, recorded: union of two querysets
(SELECT "orders"."status", COUNT("orders"."id") AS "n" FROM "orders" WHERE "orders"."country" = 'AT' GROUP BY "orders"."status") UNION ALL (SELECT "orders"."status", COUNT("orders"."id") AS "n" FROM "orders" WHERE "orders"."country" = 'DE' GROUP BY "orders"."status");

-- from: Django 3.2.25, recorded: StdDev and Variance
SELECT STDDEV_POP("orders"."amount") AS "amount__stddev", VAR_POP("orders"."quantity") AS "quantity__variance" FROM "orders";

-- from: Django 3.2.25, recorded: Cast and Upper
SELECT "orders"."status", CAST(AVG("orders"."amount") AS double precision) AS "m", UPPER("orders"."status") AS "u" FROM "orders" GROUP BY "orders"."status", UPPER("orders"."status") ORDER BY "orders"."status" ASC;

-- from: Django 3.2.25, recorded: exists
SELECT (1) AS "a" FROM "orders" WHERE "orders"."status" = 'new' LIMIT 1;

-- from: Django 3.2.25, recorded: Min and Max
SELECT MIN("orders"."amount") AS "amount__min", MAX("orders"."amount") AS "amount__max" FROM "orders";

-- from: Django 3.2.25, recorded: Count of distinct
SELECT COUNT(DISTINCT "orders"."customer_id") AS "n" FROM "orders";

-- from: Django 3.2.25, recorded: grouping by a condition
SELECT "orders"."quantity" > 4 AS "big", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."quantity" > 4;

-- from: Django 3.2.25, recorded: dates of a queryset
SELECT DISTINCT DATE_TRUNC('month', "orders"."created_on") AS "datefield" FROM "orders" WHERE "orders"."created_on" IS NOT NULL ORDER BY "datefield" ASC;

-- from: memory of Django, count with a filter, psycopg 3 with server-side binding
-- $1: shipped
SELECT COUNT(*) AS "__count" FROM "orders" WHERE "orders"."status" = $1;

-- from: memory of Django, values().annotate()
SELECT "orders"."country" AS "country", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY 1 ORDER BY 1 ASC;

-- from: memory of Django, count of distinct rows
SELECT COUNT(*) FROM (SELECT DISTINCT "orders"."country" AS "col1" FROM "orders") subquery;
