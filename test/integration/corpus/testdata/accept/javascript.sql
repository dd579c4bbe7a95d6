-- from: Knex 3.3.0, recorded: count, whereNot, groupBy
-- $1: returned
select "channel", count(*) as "n" from "orders" where not "status" = $1 group by "channel";

-- from: Knex 3.3.0, recorded: sum and avg
-- $1: t
select sum("amount") as "total", avg("quantity") as "mean" from "orders" where "is_paid" = $1;

-- from: Knex 3.3.0, recorded: having, orderBy, limit, offset
-- $1: 100
-- $2: 3
-- $3: 1
select "country", sum("amount") as "total" from "orders" group by "country" having count(*) > $1 order by "total" desc limit $2 offset $3;

-- from: Knex 3.3.0, recorded: first, whereIn, whereBetween
-- $1: new
-- $2: open
-- $3: 2
-- $4: 5
-- $5: 1
select count("id") as "n" from "orders" where "status" in ($1, $2) and "quantity" between $3 and $4 limit $5;

-- from: Knex 3.3.0, recorded: join
-- $1: t
select "products"."category", avg("orders"."amount") as "mean" from "orders" inner join "products" on "orders"."product_id" = "products"."id" where "products"."active" = $1 group by "products"."category" order by "products"."category" asc;

-- from: Knex 3.3.0, recorded: from a subquery
select avg("n") from (select "country", count(*) as "n" from "orders" group by "country") as "t";

-- from: Knex 3.3.0, recorded: with
-- $1: 1000
with "c" as (select "country", sum("amount") as "total" from "orders" group by "country") select * from "c" where "total" > $1 order by "country" asc;

-- from: Knex 3.3.0, recorded: whereExists
-- $1: Seat
select count(*) as "n" from "orders" where exists (select * from "products" where products.id = orders.product_id and "category" = $1);

-- from: Knex 3.3.0, recorded: whereIn of a subquery
-- $1: Light
select sum("quantity") from "orders" where "product_id" in (select "id" from "products" where "category" = $1);

-- from: Knex 3.3.0, recorded: countDistinct
select count(distinct "customer_id") as "n" from "orders";

-- from: Knex 3.3.0, recorded: orWhere in brackets
-- $1: %call%
-- $2: 2024-03-01
select count(*) from "orders" where ("rating" is null or "note" ilike $1) and "created_on" >= $2;

-- from: Knex 3.3.0, recorded: raw date_trunc
select date_trunc('month', "created_at") as month, count(*) as "n" from "orders" group by 1 order by 1;

-- from: Knex 3.3.0, recorded: unionAll
-- $1: AT
-- $2: DE
select count(*) as "n" from "orders" where "country" = $1 union all select count(*) as "n" from "orders" where "country" = $2;

-- from: Objection 3.1.5, recorded: resultSize
-- $1: new
select count(*) as "count" from (select "orders".* from "orders" where "status" = $1) as "temp";

-- from: Objection 3.1.5, recorded: a page
-- $1: 2
select "country", count(*) as "n" from "orders" group by "country" order by "country" asc limit $1;

-- from: Objection 3.1.5, recorded: the total of a page
select count(*) as "count" from (select "country", count(*) as "n" from "orders" group by "country") as "temp";

-- from: Objection 3.1.5, recorded: joinRelated
select "product"."category", sum("orders"."amount") as "total" from "orders" inner join "products" as "product" on "product"."id" = "orders"."product_id" group by "product"."category";

-- from: Objection 3.1.5, recorded: a counting subquery
-- $1: 5
select "products"."id", (select count(*) from "orders" where "orders"."product_id" = "products"."id") as "n" from "products" order by "id" asc limit $1;

-- from: Sequelize 6.37.8, recorded: count with a list
SELECT count(*) AS "count" FROM "orders" AS "order" WHERE "order"."status" IN ('new', 'open');

-- from: Sequelize 6.37.8, recorded: count with Op.or
SELECT count(*) AS "count" FROM "orders" AS "order" WHERE ("order"."rating" IS NULL OR "order"."quantity" BETWEEN 2 AND 5) AND "order"."status" != 'returned';

-- from: Sequelize 6.37.8, recorded: sum
SELECT sum("amount") AS "sum" FROM "orders" AS "order" WHERE "order"."is_paid" = true;

-- from: Sequelize 6.37.8, recorded: findAll with fn and group
SELECT "status", COUNT("id") AS "n", SUM("amount") AS "total" FROM "orders" AS "order" GROUP BY "status" ORDER BY "order"."status" ASC;

-- from: Sequelize 6.37.8, recorded: having and a literal order
SELECT "country", AVG("amount") AS "mean" FROM "orders" AS "order" GROUP BY "country" HAVING COUNT("id") > 100 ORDER BY mean DESC LIMIT 3;

-- from: Sequelize 6.37.8, recorded: count by group
SELECT "country", "is_paid", count(*) AS "count" FROM "orders" AS "order" GROUP BY "country", "is_paid";

-- from: Sequelize 6.37.8, recorded: count of distinct
SELECT count(DISTINCT("customer_id")) AS "count" FROM "orders" AS "order";

-- from: Sequelize 6.37.8, recorded: group by an included model
SELECT SUM("order"."quantity") AS "units", "product"."category" AS "product.category" FROM "orders" AS "order" INNER JOIN "products" AS "product" ON "order"."product_id" = "product"."id" AND "product"."active" = true GROUP BY "product"."category";

-- from: Sequelize 6.37.8, recorded: count with an included model
SELECT count("order"."id") AS "count" FROM "orders" AS "order" INNER JOIN "products" AS "product" ON "order"."product_id" = "product"."id" AND "product"."category" = 'Seat';

-- from: Sequelize 6.37.8, recorded: group by date_trunc
SELECT date_trunc('month', "created_at") AS "month", count('*') AS "n" FROM "orders" AS "order" GROUP BY date_trunc('month', "created_at");

-- from: Sequelize 6.37.8, recorded: a literal CASE and cast
SELECT SUM(CASE WHEN status = 'shipped' THEN 1 ELSE 0 END) AS "shipped", CAST(AVG("amount") AS INTEGER) AS "mean" FROM "orders" AS "order" LIMIT 1;

-- from: Sequelize 6.37.8, recorded: ranges and iLike
SELECT count(*) AS "count" FROM "orders" AS "order" WHERE ("order"."created_on" >= '2024-02-01' AND "order"."created_on" < '2024-03-01') AND "order"."note" ILIKE '%call%';

-- from: Sequelize 6.37.8, recorded: a literal subquery
SELECT "id", (SELECT COUNT(*) FROM orders WHERE orders.product_id = product.id) AS "n" FROM "products" AS "product" ORDER BY "product"."id" LIMIT 5;

-- from: Sequelize 6.37.8, recorded: max
SELECT max("amount") AS "max" FROM "orders" AS "order";

-- from: TypeORM 1.1.1, recorded: count
SELECT COUNT(1) AS "cnt" FROM "orders" "Order";

-- from: TypeORM 1.1.1, recorded: countBy
-- $1: t
-- $2: new
-- $3: open
-- $4: 2
-- $5: 5
SELECT COUNT(1) AS "cnt" FROM "orders" "Order" WHERE (("Order"."is_paid" = $1) AND ("Order"."status" IN ($2, $3)) AND ("Order"."quantity" BETWEEN $4 AND $5));

-- from: TypeORM 1.1.1, recorded: count with alternatives
-- $1: AT
-- $2: DE
-- $3: %call%
SELECT COUNT(1) AS "cnt" FROM "orders" "Order" WHERE (((("Order"."country" = $1) AND (NOT("Order"."rating" IS NULL)))) OR ((("Order"."country" = $2) AND ("Order"."note" ILIKE $3))));

-- from: TypeORM 1.1.1, recorded: sum
-- $1: AT
SELECT SUM("Order"."quantity") AS "SUM" FROM "orders" "Order" WHERE (("Order"."country" = $1));

-- from: TypeORM 1.1.1, recorded: average
-- $1: 2
SELECT AVG("Order"."amount") AS "AVG" FROM "orders" "Order" WHERE (("Order"."quantity" > $1));

-- from: TypeORM 1.1.1, recorded: maximum
SELECT MAX("Order"."amount") AS "MAX" FROM "orders" "Order";

-- from: TypeORM 1.1.1, recorded: count over a relation
-- $1: Seat
SELECT COUNT(DISTINCT("Order"."id")) AS "cnt" FROM "orders" "Order" LEFT JOIN "products" "Order__Order_product" ON "Order__Order_product"."id"="Order"."product_id" WHERE (((("Order__Order_product"."category" = $1))));

-- from: TypeORM 1.1.1, recorded: groupBy
-- $1: new
SELECT "order"."country" AS "country", SUM("order"."amount") AS "sum", COUNT(*) AS "n" FROM "orders" "order" WHERE "order"."status" = $1 GROUP BY "order"."country" ORDER BY "order"."country" ASC;

-- from: TypeORM 1.1.1, recorded: having
-- $1: 100
SELECT "order"."status" AS "order_status", AVG("order"."quantity") AS "mean" FROM "orders" "order" GROUP BY "order"."status" HAVING COUNT("order"."id") > $1;

-- from: TypeORM 1.1.1, recorded: getCount with a join
SELECT COUNT(DISTINCT("order"."id")) AS "cnt" FROM "orders" "order" LEFT JOIN "products" "product" ON "product"."id"="order"."product_id" WHERE "product"."active" = true;

-- from: TypeORM 1.1.1, recorded: group by a joined column
SELECT "product"."category" AS "category", AVG("order"."amount") AS "mean" FROM "orders" "order" INNER JOIN "products" "product" ON "product"."id"="order"."product_id" GROUP BY "product"."category" ORDER BY "mean" DESC LIMIT 2;

-- from: TypeORM 1.1.1, recorded: from a subquery
SELECT AVG(t.n) AS "avg" FROM (SELECT "o"."country" AS "country", COUNT("o"."id") AS "n" FROM "orders" "o" GROUP BY "o"."country") "t";

-- from: TypeORM 1.1.1, recorded: Brackets
-- $1: t
-- $2: web
-- $3: 5
SELECT COUNT(*) AS "n" FROM "orders" "order" WHERE "order"."is_paid" = $1 AND ("order"."channel" = $2 OR "order"."quantity" > $3);

-- from: TypeORM 1.1.1, recorded: a subquery in where
SELECT SUM("order"."amount") AS "sum" FROM "orders" "order" WHERE "order"."product_id" IN (SELECT "p"."id" AS "p_id" FROM "products" "p" WHERE "p"."category" = 'Light');

-- from: TypeORM 1.1.1, recorded: a common table expression
WITH "c" AS (SELECT "order"."country" AS "country", SUM("order"."amount") AS "total" FROM "orders" "order" GROUP BY "order"."country") SELECT c.country AS "country", c.total AS "total" FROM "c" "c" ORDER BY c.total DESC;

-- from: TypeORM 1.1.1, recorded: group by an alias
SELECT DATE_TRUNC('month', "order"."created_at") AS "month", COUNT(*) AS "n" FROM "orders" "order" GROUP BY month ORDER BY "month" ASC;

-- from: TypeORM 1.1.1, recorded: exists
-- $1: new
SELECT 1 AS "row_exists" FROM (SELECT 1 AS dummy_column) "dummy_table" WHERE EXISTS (SELECT 1 FROM "orders" "Order" WHERE (("Order"."status" = $1))) LIMIT 1;

-- from: Drizzle 0.45.4, recorded: $count
-- $1: new
select count(*) as count from "orders" where "orders"."status" = $1;

-- from: Drizzle 0.45.4, recorded: groupBy
-- $1: t
select "country", count(*), sum("amount"), avg("quantity") from "orders" where "orders"."is_paid" = $1 group by "orders"."country" order by sum("orders"."amount") desc;

-- from: Drizzle 0.45.4, recorded: having
-- $1: 100
select "status", count("id") from "orders" group by "orders"."status" having count("orders"."id") > $1;

-- from: Drizzle 0.45.4, recorded: leftJoin
select "products"."category", avg("orders"."amount") from "orders" left join "products" on "orders"."product_id" = "products"."id" group by "products"."category" order by "products"."category";

-- from: Drizzle 0.45.4, recorded: $with
-- $1: 100
-- $2: 3
with "sq" as (select "country", count(*) as "n" from "orders" group by "orders"."country") select "country", "n" from "sq" where "n" > $1 order by "sq"."country" limit $2;

-- from: Drizzle 0.45.4, recorded: a subquery
select avg("n") from (select "country", count(*) as "n" from "orders" group by "orders"."country") "sub";

-- from: Drizzle 0.45.4, recorded: countDistinct and inArray
-- $1: AT
-- $2: DE
select count(distinct "customer_id") from "orders" where "orders"."country" in ($1, $2);

-- from: Drizzle 0.45.4, recorded: or and exists
-- $1: Seat
select count(*) from "orders" where ("orders"."rating" is null or exists (select "id", "category", "active" from "products" where ("products"."id" = "orders"."product_id" and "products"."category" = $1)));

-- from: Drizzle 0.45.4, recorded: sql with filter and case
select count(*) filter (where "is_paid"), round(avg(case when "quantity" > 3 then "amount" else 0 end), 2) from "orders";

-- from: Drizzle 0.45.4, recorded: group by an alias
select date_trunc('month', "created_at") as "month", count(*) from "orders" group by month order by month;

-- from: Kysely 0.28.18, recorded: countAll
-- $1: new
select count(*) as "n" from "orders" where "status" = $1;

-- from: Kysely 0.28.18, recorded: groupBy, having, limit
-- $1: 100
-- $2: 3
select "country", sum("amount") as "total", avg("quantity") as "mean" from "orders" group by "country" having count("id") > $1 order by "total" desc limit $2;

-- from: Kysely 0.28.18, recorded: filterWhere and case
-- $1: t
-- $2: shipped
select count("id") filter(where "is_paid" = $1) as "paid", sum(case when "status" = $2 then "amount" else 0 end) as "shipped" from "orders";

-- from: Kysely 0.28.18, recorded: innerJoin
select "p"."category", avg("o"."amount") as "mean" from "orders" as "o" inner join "products" as "p" on "p"."id" = "o"."product_id" group by "p"."category";

-- from: Kysely 0.28.18, recorded: with
with "c" as (select "country", count("id") as "n" from "orders" group by "country") select sum("n") as "all" from "c";

-- from: Kysely 0.28.18, recorded: over
select "country", sum(count("id")) over(order by "country") as "running" from "orders" group by "country";

-- from: Kysely 0.28.18, recorded: or and exists
-- $1: Seat
select count(*) as "n" from "orders" where ("rating" is null or exists (select 1 as "one" from "products" where "products"."id" = "orders"."product_id" and "category" = $1));

-- from: Kysely 0.28.18, recorded: coalesce and cast
select coalesce(sum("discount"), 0) as "d", cast(avg("amount") as integer) as "m" from "orders";

-- from: MikroORM 6.4.16, recorded: count
select count(*) as "count" from "orders" as "o0" where "o0"."status" in ('new', 'open');

-- from: MikroORM 6.4.16, recorded: count over a relation
select count(*) as "count" from "orders" as "o0" left join "products" as "p1" on "o0"."product_id" = "p1"."id" where "p1"."category" = 'Seat';

-- from: MikroORM 6.4.16, recorded: QueryBuilder with having
select "o"."country", count(*) as n, sum(o.amount) as total from "orders" as "o" where "o"."is_paid" = true and ("o"."rating" is null or "o"."quantity" >= 3) group by "o"."country" having count(*) > 100 order by "o"."country" asc;

-- from: MikroORM 6.4.16, recorded: QueryBuilder with a join
select "p"."category", avg(o.amount) as mean from "orders" as "o" left join "products" as "p" on "o"."product_id" = "p"."id" group by "p"."category";

-- from: Prisma 6.19.3, recorded: count
-- $1: new
-- $2: 0
SELECT COUNT(*) AS "_count$_all" FROM (SELECT "public"."orders"."id" FROM "public"."orders" WHERE "public"."orders"."status" = $1 OFFSET $2) AS "sub";

-- from: Prisma 6.19.3, recorded: count of columns
-- $1: 0
SELECT COUNT("rating") AS "_count$rating", COUNT(*) AS "_count$_all" FROM (SELECT "public"."orders"."rating" FROM "public"."orders" WHERE 1=1 OFFSET $1) AS "sub";

-- from: Prisma 6.19.3, recorded: count with take
-- $1: 100
-- $2: 0
SELECT COUNT(*) AS "_count$_all" FROM (SELECT "public"."orders"."id" FROM "public"."orders" WHERE 1=1 ORDER BY "public"."orders"."id" ASC LIMIT $1 OFFSET $2) AS "sub";

-- from: Prisma 6.19.3, recorded: aggregate
-- $1: 3
-- $2: 0
SELECT SUM("quantity") AS "_sum$quantity", AVG("amount") AS "_avg$amount", COUNT(*) AS "_count$_all" FROM (SELECT "public"."orders"."quantity", "public"."orders"."amount", "public"."orders"."id" FROM "public"."orders" WHERE ("public"."orders"."rating" IS NULL OR "public"."orders"."quantity" >= $1) OFFSET $2) AS "sub";

-- from: Prisma 6.19.3, recorded: minimum and maximum
-- $1: 0
SELECT MIN("amount") AS "_min$amount", MAX("amount") AS "_max$amount" FROM (SELECT "public"."orders"."amount" FROM "public"."orders" WHERE 1=1 OFFSET $1) AS "sub";

-- from: Prisma 6.19.3, recorded: groupBy
-- $1: DE
-- $2: 0
SELECT COUNT(*) AS "_count$_all", SUM("public"."orders"."amount") AS "_sum$amount", "public"."orders"."status" FROM "public"."orders" WHERE "public"."orders"."country" = $1 GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC OFFSET $2;

-- from: Prisma 6.19.3, recorded: count of a relation
-- $1: 5
SELECT "t0"."id", JSONB_BUILD_OBJECT('orders', COALESCE("t1"."_aggr_count_orders", 0)) AS "_count" FROM "public"."products" AS "t0" LEFT JOIN LATERAL (SELECT COUNT(*) AS "_aggr_count_orders" FROM "public"."orders" AS "t2" WHERE "t0"."id" = "t2"."product_id") AS "t1" ON true ORDER BY "t0"."id" ASC LIMIT $1;

-- from: Prisma 6.19.3, recorded: count by a relation
-- $1: Seat
-- $2: 0
SELECT COUNT(*) AS "_count$_all" FROM (SELECT "public"."orders"."id" FROM "public"."orders" LEFT JOIN "public"."products" AS "j0" ON ("j0"."id") = ("public"."orders"."product_id") WHERE ("j0"."category" = $1 AND ("j0"."id" IS NOT NULL)) OFFSET $2) AS "sub";

-- from: Prisma 6.19.3, recorded: some of a relation
-- $1: new
-- $2: 0
SELECT COUNT(*) AS "_count$_all" FROM (SELECT "public"."products"."id" FROM "public"."products" WHERE EXISTS(SELECT "t0"."product_id" FROM "public"."orders" AS "t0" WHERE ("t0"."status" = $1 AND ("public"."products"."id") = ("t0"."product_id") AND "t0"."product_id" IS NOT NULL)) OFFSET $2) AS "sub";

-- from: Prisma 6.19.3, recorded: in, contains, not
-- $1: new
-- $2: open
-- $3: %call%
-- $4: web
-- $5: 0
SELECT COUNT(*) AS "_count$_all" FROM (SELECT "public"."orders"."id" FROM "public"."orders" WHERE ("public"."orders"."status" IN ($1,$2) AND "public"."orders"."note" ILIKE $3 AND (NOT "public"."orders"."channel" = $4)) OFFSET $5) AS "sub";

-- from: Prisma 6.19.3, recorded: groupBy with having
-- $1: 50
-- $2: 3
-- $3: 0
SELECT AVG("public"."orders"."amount") AS "_avg$amount", "public"."orders"."country" FROM "public"."orders" WHERE 1=1 GROUP BY "public"."orders"."country" HAVING AVG("public"."orders"."amount") > $1 ORDER BY AVG("public"."orders"."amount") DESC LIMIT $2 OFFSET $3;

-- from: memory of Prisma 5, aggregate without a subquery
SELECT COUNT(*) AS "_count$_all", SUM("t0"."amount") AS "_sum$amount" FROM "public"."orders" AS "t0" WHERE 1=1;

-- from: Prisma, count of a relation: statements in public repositories (_aggr_count_)
SELECT "public"."products"."id", COALESCE("aggr_selection_0_orders"."_aggr_count_orders", 0) AS "_aggr_count_orders" FROM "public"."products" LEFT JOIN (SELECT "public"."orders"."product_id", COUNT(*) AS "_aggr_count_orders" FROM "public"."orders" WHERE 1=1 GROUP BY "public"."orders"."product_id") AS "aggr_selection_0_orders" ON ("public"."products"."id" = "aggr_selection_0_orders"."product_id") WHERE 1=1;
