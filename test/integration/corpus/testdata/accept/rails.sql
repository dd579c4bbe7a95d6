-- from: ActiveRecord 6.1.7.10, recorded: where.count with a bind
-- $1: DE
SELECT COUNT(*) FROM "orders" WHERE "orders"."country" = $1;

-- from: ActiveRecord 6.1.7.10, recorded: or, nil and a list
-- $1: new
-- $2: open
SELECT COUNT(*) FROM "orders" WHERE ("orders"."product_id" IS NULL OR "orders"."status" IN ($1, $2));

-- from: ActiveRecord 6.1.7.10, recorded: ranges
-- $1: 2024-01-01 00:00:00
-- $2: 2024-07-01 00:00:00
-- $3: 2
-- $4: 5
SELECT COUNT(*) FROM "orders" WHERE "orders"."created_at" >= $1 AND "orders"."created_at" < $2 AND "orders"."quantity" BETWEEN $3 AND $4;

-- from: ActiveRecord 6.1.7.10, recorded: group.count
SELECT COUNT(*) AS count_all, "orders"."status" AS orders_status FROM "orders" GROUP BY "orders"."status";

-- from: ActiveRecord 6.1.7.10, recorded: group by two columns
SELECT COUNT(*) AS count_all, "orders"."status" AS orders_status, "orders"."channel" AS orders_channel FROM "orders" GROUP BY "orders"."status", "orders"."channel";

-- from: ActiveRecord 6.1.7.10, recorded: group.sum in order
SELECT SUM("orders"."amount") AS sum_amount, "orders"."country" AS orders_country FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC;

-- from: ActiveRecord 6.1.7.10, recorded: group.sum, the best three
-- $1: 3
SELECT SUM("orders"."amount") AS sum_amount, "orders"."country" AS orders_country FROM "orders" GROUP BY "orders"."country" ORDER BY sum_amount DESC LIMIT $1;

-- from: ActiveRecord 6.1.7.10, recorded: group.average with a bind
-- $1: t
SELECT AVG("orders"."amount") AS average_amount, "orders"."country" AS orders_country FROM "orders" WHERE "orders"."is_paid" = $1 GROUP BY "orders"."country";

-- from: ActiveRecord 6.1.7.10, recorded: average
SELECT AVG("orders"."quantity") FROM "orders";

-- from: ActiveRecord 6.1.7.10, recorded: sum of an expression
SELECT SUM(amount * quantity) FROM "orders";

-- from: ActiveRecord 6.1.7.10, recorded: sum with an Arel condition
SELECT SUM("orders"."quantity") FROM "orders" WHERE "orders"."amount" > 100.0;

-- from: ActiveRecord 6.1.7.10, recorded: having
SELECT SUM("orders"."quantity") AS sum_quantity, "orders"."status" AS orders_status FROM "orders" GROUP BY "orders"."status" HAVING (COUNT(*) > 100);

-- from: ActiveRecord 6.1.7.10, recorded: maximum
SELECT MAX("orders"."amount") FROM "orders";

-- from: ActiveRecord 6.1.7.10, recorded: limit.count
-- $1: 100
SELECT COUNT(*) FROM (SELECT 1 AS one FROM "orders" LIMIT $1) subquery_for_count;

-- from: ActiveRecord 6.1.7.10, recorded: joins.count
-- $1: t
SELECT COUNT(*) FROM "orders" INNER JOIN "products" ON "products"."id" = "orders"."product_id" WHERE "products"."active" = $1;

-- from: ActiveRecord 6.1.7.10, recorded: joins.group.count
SELECT COUNT(*) AS count_all, "products"."category" AS products_category FROM "orders" INNER JOIN "products" ON "products"."id" = "orders"."product_id" GROUP BY "products"."category";

-- from: ActiveRecord 6.1.7.10, recorded: left_joins from the other side
SELECT COUNT("orders"."id") AS count_orders_id, "products"."category" AS products_category FROM "products" LEFT OUTER JOIN "orders" ON "orders"."product_id" = "products"."id" GROUP BY "products"."category";

-- from: ActiveRecord 6.1.7.10, recorded: eager_load.count
-- $1: Seat
SELECT COUNT(DISTINCT "orders"."id") FROM "orders" LEFT OUTER JOIN "products" ON "products"."id" = "orders"."product_id" WHERE "products"."category" = $1;

-- from: ActiveRecord 6.1.7.10, recorded: merge of a scope
-- $1: t
SELECT AVG("orders"."amount") FROM "orders" INNER JOIN "products" ON "products"."id" = "orders"."product_id" WHERE "products"."active" = $1;

-- from: ActiveRecord 6.1.7.10, recorded: distinct.count of a column
SELECT COUNT(DISTINCT "orders"."customer_id") FROM "orders";

-- from: ActiveRecord 6.1.7.10, recorded: select.distinct.count
SELECT COUNT(DISTINCT "orders"."country") FROM "orders";

-- from: ActiveRecord 6.1.7.10, recorded: exists?
-- $1: new
-- $2: 1
SELECT 1 AS one FROM "orders" WHERE "orders"."status" = $1 LIMIT $2;

-- from: ActiveRecord 6.1.7.10, recorded: group.pluck
SELECT "orders"."country", COUNT(*), AVG(amount) FROM "orders" GROUP BY "orders"."country" ORDER BY "orders"."country" ASC;

-- from: ActiveRecord 6.1.7.10, recorded: select.group.having.order
SELECT country, COUNT(*) AS n, SUM(amount) AS total FROM "orders" GROUP BY "orders"."country" HAVING (SUM(amount) > 1000) ORDER BY total DESC;

-- from: ActiveRecord 6.1.7.10, recorded: group by DATE_TRUNC
SELECT COUNT(*) AS count_all, DATE_TRUNC('month', created_at) AS date_trunc_month_created_at FROM "orders" GROUP BY DATE_TRUNC('month', created_at);

-- from: ActiveRecord 6.1.7.10, recorded: where.not
-- $1: returned
SELECT COUNT(*) FROM "orders" WHERE "orders"."status" != $1 AND "orders"."rating" IS NOT NULL;

-- from: ActiveRecord 6.1.7.10, recorded: where with a relation
-- $1: Light
SELECT SUM("orders"."amount") FROM "orders" WHERE "orders"."product_id" IN (SELECT "products"."id" FROM "products" WHERE "products"."category" = $1);

-- from: ActiveRecord 6.1.7.10, recorded: from a grouped relation
SELECT AVG("t"."n") FROM (SELECT country, COUNT(*) AS n FROM "orders" GROUP BY "orders"."country") t;

-- from: ActiveRecord 6.1.7.10, recorded: Arel: project, group, having, take
SELECT "orders"."status", COUNT("orders"."id") AS n, AVG("orders"."amount") AS m, SUM("orders"."amount") FROM "orders" WHERE "orders"."country" IN ('AT', 'CH') AND "orders"."quantity" >= 2 GROUP BY "orders"."status" HAVING COUNT("orders"."id") > 10 ORDER BY "orders"."status" ASC LIMIT 10;

-- from: ActiveRecord 6.1.7.10, recorded: Arel: sum of a CASE
SELECT SUM(CASE WHEN "orders"."is_paid" THEN "orders"."amount" ELSE 0 END) FROM "orders";

-- from: ActiveRecord 6.1.7.10, recorded: Arel: a window over groups
SELECT "orders"."country", COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY "orders"."country") AS running FROM "orders" GROUP BY "orders"."country";

-- from: ActiveRecord 6.1.7.10, recorded: Arel: WITH
WITH "c" AS (SELECT "orders"."country", COUNT(*) AS n FROM "orders" GROUP BY "orders"."country") SELECT SUM("c"."n") FROM "c";

-- from: ActiveRecord 6.1.7.10, recorded: a counting subquery in select
-- $1: 5
SELECT products.*, (SELECT COUNT(*) FROM orders WHERE orders.product_id = products.id) AS orders_count FROM "products" ORDER BY "products"."id" ASC LIMIT $1;

-- from: ActiveRecord 6.1.7.10, recorded: column definitions of a table
SELECT a.attname, format_type(a.atttypid, a.atttypmod),
       pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypid, a.atttypmod,
       c.collname, col_description(a.attrelid, a.attnum) AS comment
  FROM pg_attribute a
  LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
  LEFT JOIN pg_type t ON a.atttypid = t.oid
  LEFT JOIN pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation
 WHERE a.attrelid = '"orders"'::regclass
   AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attnum;

-- from: ActiveRecord 6.1.7.10, recorded: the primary key of a table
SELECT a.attname
  FROM (
         SELECT indrelid, indkey, generate_subscripts(indkey, 1) idx
           FROM pg_index
          WHERE indrelid = '"products"'::regclass
            AND indisprimary
       ) i
  JOIN pg_attribute a
    ON a.attrelid = i.indrelid
   AND a.attnum = i.indkey[i.idx]
 ORDER BY i.idx;

-- from: memory of Rails, groupdate gem
SELECT COUNT(*) AS count_all, DATE_TRUNC('week', "orders"."created_at"::timestamptz AT TIME ZONE 'Etc/UTC')::date AS date_trunc_week FROM "orders" WHERE "orders"."created_at" IS NOT NULL GROUP BY DATE_TRUNC('week', "orders"."created_at"::timestamptz AT TIME ZONE 'Etc/UTC')::date;

-- from: Sequel 5.63.0, recorded: count
SELECT count(*) AS "count" FROM "orders" WHERE ("status" IN ('new', 'open')) LIMIT 1;

-- from: Sequel 5.63.0, recorded: group_and_count
SELECT "country", count(*) AS "count" FROM "orders" GROUP BY "country";

-- from: Sequel 5.63.0, recorded: select_group.having.order.limit
SELECT "country", count(*) AS "n", sum("amount") AS "total" FROM "orders" GROUP BY "country" HAVING (count(*) > 100) ORDER BY "total" DESC LIMIT 3;

-- from: Sequel 5.63.0, recorded: exclude.avg
SELECT avg("amount") AS "avg" FROM "orders" WHERE ("status" != 'returned') LIMIT 1;

-- from: Sequel 5.63.0, recorded: join and select_group
SELECT "products"."category", avg("orders"."amount") AS "mean" FROM "orders" INNER JOIN "products" ON ("products"."id" = "orders"."product_id") GROUP BY "products"."category";

-- from: Sequel 5.63.0, recorded: filter and case
SELECT count(*) FILTER (WHERE ("is_paid" IS TRUE)) AS "paid", sum((CASE WHEN ("status" = 'shipped') THEN "amount" ELSE 0 END)) AS "shipped" FROM "orders";

-- from: Sequel 5.63.0, recorded: from_self
SELECT avg("n") FROM (SELECT "country", count(*) AS "n" FROM "orders" GROUP BY "country") AS "t1";

-- from: Sequel 5.63.0, recorded: date_trunc as a group
SELECT date_trunc('month', "created_at") AS "month", sum("quantity") FROM "orders" GROUP BY date_trunc('month', "created_at");

-- from: Sequel 5.63.0, recorded: with
WITH "c" AS (SELECT "country", sum("amount") AS "total" FROM "orders" GROUP BY "country") SELECT * FROM "c" WHERE ("total" > 1000) ORDER BY "country";

-- from: Sequel 5.63.0, recorded: ranges and a subquery
SELECT sum("amount") AS "sum" FROM "orders" WHERE (("quantity" >= 2) AND ("quantity" <= 5) AND ("amount" > 100) AND ("product_id" IN (SELECT "id" FROM "products" WHERE ("category" = 'Seat')))) LIMIT 1;
