-- from: Django, QuerySet.count: captured queries in public test suites ("__count")
SELECT COUNT(*) AS "__count" FROM "orders";

-- from: memory of Django, count with a filter, psycopg 3 with server-side binding
-- $1: shipped
SELECT COUNT(*) AS "__count" FROM "orders" WHERE "orders"."status" = $1;

-- from: memory of Django, aggregate(Sum, Avg)
SELECT SUM("orders"."amount") AS "amount__sum", AVG("orders"."quantity") AS "quantity__avg" FROM "orders";

-- from: memory of Django, values().annotate()
SELECT "orders"."country" AS "country", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY 1 ORDER BY 1 ASC;

-- from: memory of Django 3, the same with column names in GROUP BY
SELECT "orders"."country", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC;

-- from: memory of Django, annotate with a filtered aggregate
SELECT COUNT("orders"."id") FILTER (WHERE "orders"."is_paid") AS "paid", COUNT("orders"."id") FILTER (WHERE NOT "orders"."is_paid") AS "unpaid" FROM "orders";

-- from: memory of Django, TruncMonth
SELECT DATE_TRUNC('month', "orders"."created_at") AS "month", COUNT("orders"."id") AS "c" FROM "orders" GROUP BY 1 ORDER BY 1 ASC;

-- from: memory of Django, TruncDate with a time zone
SELECT ("orders"."shipped_at" AT TIME ZONE 'UTC')::date AS "day", COUNT("orders"."id") AS "c" FROM "orders" WHERE "orders"."shipped_at" IS NOT NULL GROUP BY 1 ORDER BY 1 ASC;

-- from: memory of Django, ExtractYear lookup
SELECT COUNT(*) AS "__count" FROM "orders" WHERE EXTRACT(MONTH FROM "orders"."created_on") = 3;

-- from: memory of Django, a year lookup as a range
SELECT COUNT(*) AS "__count" FROM "orders" WHERE "orders"."created_on" BETWEEN '2024-01-01'::date AND '2024-12-31'::date;

-- from: memory of Django, icontains
SELECT COUNT(*) AS "__count" FROM "orders" WHERE UPPER("orders"."note"::text) LIKE UPPER('%call%');

-- from: memory of Django, a related field
SELECT "products"."category", AVG("orders"."amount") AS "mean" FROM "orders" INNER JOIN "products" ON ("orders"."product_id" = "products"."id") GROUP BY "products"."category" ORDER BY "products"."category" ASC;

-- from: memory of Django, exclude with a subquery
SELECT COUNT(*) AS "__count" FROM "orders" WHERE EXISTS(SELECT 1 AS "a" FROM "products" U0 WHERE (U0."active" AND U0."id" = ("orders"."product_id")) LIMIT 1);

-- from: memory of Django, count of distinct rows
SELECT COUNT(*) FROM (SELECT DISTINCT "orders"."country" AS "col1" FROM "orders") subquery;

-- from: memory of Django, annotate then aggregate
SELECT AVG("n") FROM (SELECT "orders"."country" AS "col1", COUNT("orders"."id") AS "n" FROM "orders" GROUP BY 1) subquery;

-- from: memory of Django, F expressions
SELECT SUM(("orders"."amount" * "orders"."quantity")) AS "total" FROM "orders" WHERE "orders"."amount" > ("orders"."quantity" * 10);

-- from: memory of Django, Coalesce around Sum
SELECT COALESCE(SUM("orders"."discount"), 0.0) AS "d" FROM "orders" WHERE NOT ("orders"."status" = 'returned' AND "orders"."status" IS NOT NULL);

-- from: memory of Django, Window over an annotated queryset
SELECT "orders"."country" AS "country", COUNT("orders"."id") AS "n", RANK() OVER (ORDER BY COUNT("orders"."id") DESC) AS "rank" FROM "orders" GROUP BY 1 ORDER BY 1 ASC;
