-- from: memory of Rails, Relation#count
SELECT COUNT(*) FROM "orders";

-- from: memory of Rails, where.count with a bind
-- $1: DE
SELECT COUNT(*) FROM "orders" WHERE "orders"."country" = $1;

-- from: memory of Rails, group.count
SELECT COUNT(*) AS "count_all", "orders"."status" AS "orders_status" FROM "orders" GROUP BY "orders"."status";

-- from: memory of Rails, group.sum
SELECT SUM("orders"."amount") AS "sum_amount", "orders"."country" AS "orders_country" FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC;

-- from: memory of Rails, average
SELECT AVG("orders"."quantity") FROM "orders" WHERE "orders"."is_paid" = TRUE;

-- from: memory of Rails, maximum
SELECT MAX("orders"."amount") FROM "orders";

-- from: memory of Rails, group having
SELECT SUM("orders"."quantity") AS "sum_quantity", "orders"."status" AS "orders_status" FROM "orders" GROUP BY "orders"."status" HAVING (sum(quantity) > 50);

-- from: Rails, count with limit: statements in public repositories (subquery_for_count)
SELECT COUNT(*) FROM (SELECT 1 AS one FROM "orders" LIMIT 100) subquery_for_count;

-- from: memory of Rails, joins and count
SELECT COUNT(*) FROM "orders" INNER JOIN "products" ON "products"."id" = "orders"."product_id" WHERE "products"."active" = TRUE;

-- from: memory of Rails, distinct count
SELECT COUNT(DISTINCT "orders"."customer_id") FROM "orders";

-- from: memory of Rails, where with a range and a list
SELECT COUNT(*) FROM "orders" WHERE "orders"."created_at" BETWEEN '2024-01-01 00:00:00' AND '2024-06-30 23:59:59.999999' AND "orders"."status" IN ('new', 'open');

-- from: memory of Rails, groupdate gem
SELECT COUNT(*) AS count_all, DATE_TRUNC('week', "orders"."created_at"::timestamptz AT TIME ZONE 'Etc/UTC')::date AS date_trunc_week FROM "orders" WHERE "orders"."created_at" IS NOT NULL GROUP BY DATE_TRUNC('week', "orders"."created_at"::timestamptz AT TIME ZONE 'Etc/UTC')::date;

-- from: memory of Rails, exists?
SELECT 1 AS one FROM "orders" WHERE "orders"."status" = 'new' LIMIT 1;

-- from: memory of Rails, column definitions of a table
SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypid, a.atttypmod, c.collname, col_description(a.attrelid, a.attnum) AS comment, attidentity AS identity, attgenerated as attgenerated
  FROM pg_attribute a
  LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  LEFT JOIN pg_type t ON a.atttypid = t.oid
  LEFT JOIN pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation
  WHERE a.attrelid = '"orders"'::regclass AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum;
