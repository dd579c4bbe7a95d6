-- from: GORM 1.31.2, recorded: Count
-- $1: shop
SELECT count(*) FROM "orders" WHERE channel = $1;

-- from: GORM 1.31.2, recorded: Count by a struct, Not
-- $1: new
-- $2: t
-- $3: JP
-- $4: BR
SELECT count(*) FROM "orders" WHERE ("orders"."status" = $1 AND "orders"."is_paid" = $2) AND NOT country IN ($3,$4);

-- from: GORM 1.31.2, recorded: Group, Having, Order, Limit
-- $1: 100
-- $2: 3
SELECT country, count(*) as n, sum(amount) as total FROM "orders" GROUP BY "country" HAVING count(*) > $1 ORDER BY total desc LIMIT $2;

-- from: GORM 1.31.2, recorded: Count of Distinct
SELECT COUNT(DISTINCT("customer_id")) FROM "orders";

-- from: GORM 1.31.2, recorded: Count of groups
-- ties
SELECT count(*) FROM "orders" GROUP BY "status";

-- from: GORM 1.31.2, recorded: Joins
-- $1: Seat
SELECT count(*) FROM "orders" LEFT JOIN "products" "Product" ON "orders"."product_id" = "Product"."id" WHERE "Product"."category" = $1;

-- from: GORM 1.31.2, recorded: a subquery in Having
-- $1: web
SELECT country, avg(amount) as total FROM "orders" GROUP BY "country" HAVING avg(amount) > (SELECT avg(amount) - 1000 FROM "orders" WHERE channel = $1);

-- from: GORM 1.31.2, recorded: a subquery as table
SELECT avg(n) as total FROM (SELECT country, count(id) as n FROM "orders" GROUP BY "country") as t;

-- from: GORM 1.31.2, recorded: conditions in groups
-- $1: 2
-- $2: 5
-- $3: t
SELECT count(*) FROM "orders" WHERE (quantity BETWEEN $1 AND $2) AND (rating IS NULL OR is_paid = $3);

-- from: GORM 1.31.2, recorded: COALESCE of SUM
-- $1: returned
SELECT COALESCE(SUM(amount),0) FROM "orders" WHERE status <> $1;

-- from: Bun 1.3.0, recorded: Count
SELECT count(*) FROM "orders" AS "order" WHERE (status = 'open');

-- from: Bun 1.3.0, recorded: Group and Having
SELECT "order"."country", count(*) AS n, avg("amount") AS mean FROM "orders" AS "order" WHERE (is_paid) GROUP BY "country" HAVING (count(*) > 100) ORDER BY mean DESC LIMIT 3;

-- from: Bun 1.3.0, recorded: a join
SELECT product.category, sum("order".amount) FROM "orders" AS "order" LEFT JOIN products AS product ON product.id = "order".product_id GROUP BY product.category;

-- from: Bun 1.3.0, recorded: Count over a relation
SELECT count(*) FROM "orders" AS "order" LEFT JOIN "products" AS "product" ON ("product"."id" = "order"."product_id") WHERE (product.category = 'Seat');

-- from: Bun 1.3.0, recorded: With
WITH "c" AS (SELECT "order"."country", sum(amount) AS total FROM "orders" AS "order" GROUP BY "country") SELECT max(total) FROM "c";

-- from: Bun 1.3.0, recorded: Count of groups
WITH _count_wrapper AS (SELECT "order"."country" FROM "orders" AS "order" GROUP BY "country") SELECT count(*) FROM _count_wrapper;

-- from: goqu 9.19.0, recorded: prepared, GroupBy, Having
-- $1: new
-- $2: open
-- $3: 100
-- $4: 3
SELECT "country", COUNT(*) AS "n", SUM("amount") AS "total" FROM "orders" WHERE (("status" IN ($1, $2)) AND ("is_paid" IS TRUE)) GROUP BY "country" HAVING (COUNT(*) > $3) ORDER BY "total" DESC LIMIT $4;

-- from: goqu 9.19.0, recorded: InnerJoin
SELECT "products"."category", AVG("orders"."amount") FROM "orders" INNER JOIN "products" ON ("orders"."product_id" = "products"."id") GROUP BY "products"."category";

-- from: goqu 9.19.0, recorded: Case and COALESCE
SELECT SUM(CASE  WHEN ("status" = 'shipped') THEN "amount" ELSE 0 END) AS "shipped", COALESCE(SUM("discount"), 0) FROM "orders";

-- from: goqu 9.19.0, recorded: Or, Between
SELECT COUNT(*) FROM "orders" WHERE ((("rating" IS NULL) OR ("note" ILIKE '%call%')) AND ("quantity" BETWEEN 2 AND 5));

-- from: goqu 9.19.0, recorded: from a dataset
SELECT AVG("n") FROM (SELECT "country", COUNT(*) AS "n" FROM "orders" GROUP BY "country") AS "t";

-- from: Squirrel 1.5.4, recorded: GroupBy, Having, Limit
-- $1: t
-- $2: new
-- $3: open
-- $4: 2
-- $5: 100
SELECT country, COUNT(*) AS n, AVG(amount) FROM orders WHERE is_paid = $1 AND status IN ($2,$3) AND quantity >= $4 GROUP BY country HAVING COUNT(*) > $5 ORDER BY country LIMIT 3 OFFSET 1;

-- from: Squirrel 1.5.4, recorded: Or and LeftJoin
-- $1: Seat
-- $2: returned
SELECT COUNT(*) FROM orders o LEFT JOIN products p ON p.id = o.product_id WHERE (o.rating IS NULL OR (p.category = $1 AND o.status <> $2));

-- from: Squirrel 1.5.4, recorded: FromSelect
SELECT AVG(n) FROM (SELECT country, COUNT(*) AS n FROM orders GROUP BY country) AS t;
