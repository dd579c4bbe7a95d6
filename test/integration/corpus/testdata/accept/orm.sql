-- from: memory of Prisma, aggregate
-- $1: 0
SELECT COUNT(*), SUM("quantity"), AVG("amount") FROM (SELECT "public"."orders"."id", "public"."orders"."quantity", "public"."orders"."amount" FROM "public"."orders" WHERE 1=1 OFFSET $1) AS "sub";

-- from: memory of Prisma 5, aggregate without a subquery
SELECT COUNT(*) AS "_count$_all", SUM("t0"."amount") AS "_sum$amount" FROM "public"."orders" AS "t0" WHERE 1=1;

-- from: memory of Prisma, groupBy
-- $1: DE
-- $2: 0
SELECT COUNT(*) AS "_count._all", "public"."orders"."status" FROM "public"."orders" WHERE "public"."orders"."country" = $1 GROUP BY "public"."orders"."status" ORDER BY "public"."orders"."status" ASC OFFSET $2;

-- from: memory of Prisma, groupBy with having
-- $1: 50
SELECT SUM("public"."orders"."quantity") AS "_sum.quantity", "public"."orders"."country" FROM "public"."orders" WHERE 1=1 GROUP BY "public"."orders"."country" HAVING AVG("public"."orders"."amount") > $1;

-- from: Prisma, count of a relation: statements in public repositories (_aggr_count_)
SELECT "public"."products"."id", COALESCE("aggr_selection_0_orders"."_aggr_count_orders", 0) AS "_aggr_count_orders" FROM "public"."products" LEFT JOIN (SELECT "public"."orders"."product_id", COUNT(*) AS "_aggr_count_orders" FROM "public"."orders" WHERE 1=1 GROUP BY "public"."orders"."product_id") AS "aggr_selection_0_orders" ON ("public"."products"."id" = "aggr_selection_0_orders"."product_id") WHERE 1=1;

-- from: memory of TypeORM, getCount
SELECT COUNT(1) AS "cnt" FROM "public"."orders" "order" WHERE "order"."is_paid" = true;

-- from: memory of TypeORM, getCount with a join
SELECT COUNT(DISTINCT("order"."id")) AS "cnt" FROM "orders" "order" LEFT JOIN "products" "product" ON "product"."id"="order"."product_id";

-- from: memory of TypeORM, getRawMany with sums
-- $1: new
SELECT "order"."country" AS "country", SUM("order"."amount") AS "sum" FROM "orders" "order" WHERE "order"."status" = $1 GROUP BY "order"."country";

-- from: memory of TypeORM, sum and average of a repository
SELECT SUM("order"."quantity") AS "SUM" FROM "orders" "order" WHERE (("order"."country" = 'AT'));

-- from: memory of Sequelize, count
SELECT count(*) AS "count" FROM "orders" AS "order" WHERE "order"."status" IN ('new', 'open');

-- from: memory of Sequelize, findAll with fn and group
SELECT "status", COUNT("id") AS "n", SUM("amount") AS "total" FROM "orders" AS "order" GROUP BY "status";

-- from: memory of Hibernate 6, count
select count(*) from orders o1_0;

-- from: memory of Hibernate 6, group by with named expressions
select o1_0.status,count(o1_0.id),sum(o1_0.amount),avg(cast(o1_0.amount as float(53))) from orders o1_0 group by o1_0.status order by o1_0.status;

-- from: memory of Hibernate 6, positions in group by
-- $1: 1
select o1_0.country,count(o1_0.id) from orders o1_0 where o1_0.quantity>$1 group by 1 order by 1 fetch first 10 rows only;

-- from: memory of Hibernate 6, sum with case
select sum(case when o1_0.is_paid then o1_0.amount else 0 end),sum(coalesce(o1_0.discount,0.0)) from orders o1_0;

-- from: memory of Hibernate 6, a join
select p1_0.category,avg(o1_0.amount) from orders o1_0 join products p1_0 on p1_0.id=o1_0.product_id group by p1_0.category;

-- from: memory of Hibernate 5, count with generated names
select count(order0_.id) as col_0_0_ from public.orders order0_ where order0_.status='new' and (order0_.is_gift is null);

-- from: memory of Spring Data, exists by
select count(o1_0.id)>0 from orders o1_0 where o1_0.country='JP';

-- from: memory of jOOQ, group by
select "public"."orders"."status", count(*), sum("public"."orders"."amount") from "public"."orders" group by "public"."orders"."status" order by "public"."orders"."status";

-- from: memory of jOOQ, fetchCount
select count(*) from (select "public"."orders"."country" from "public"."orders" group by "public"."orders"."country") as "t";

-- from: memory of jOOQ, filter and window
select "public"."orders"."country", count(*) as "n", sum(count(*)) over (order by "public"."orders"."country" rows between unbounded preceding and current row) as "running" from "public"."orders" group by "public"."orders"."country" order by "public"."orders"."country";

-- from: memory of jOOQ, a paginated query with total
select "t"."status", "t"."n", count(*) over () as "total" from (select "public"."orders"."status", count(*) as "n" from "public"."orders" group by "public"."orders"."status") as "t" order by "t"."status" offset 0 rows fetch next 2 rows only;

-- from: memory of jOOQ, grouping sets
select "public"."orders"."status", "public"."orders"."channel", count(*) from "public"."orders" group by rollup ("public"."orders"."status", "public"."orders"."channel") order by 1 nulls last, 2 nulls last;

-- from: memory of Entity Framework Core with Npgsql, group by
SELECT o.status AS "Key", count(*)::int AS "Count", COALESCE(sum(o.amount), 0.0) AS "Total"
FROM orders AS o
GROUP BY o.status;

-- from: memory of Entity Framework Core with Npgsql, count with predicate
SELECT count(*)::int
FROM orders AS o
WHERE o.country = 'CH';

-- from: memory of Entity Framework Core with Npgsql, average
SELECT avg(o.quantity::double precision)
FROM orders AS o;

-- from: memory of Ecto, aggregate
SELECT count(o0."id") FROM "orders" AS o0;

-- from: memory of Ecto, group_by with select_merge and params
-- $1: 100
SELECT o0."country", sum(o0."amount"), avg(o0."quantity")::float FROM "orders" AS o0 WHERE (o0."amount" > $1::numeric) GROUP BY o0."country";

-- from: memory of Laravel Eloquent, count and sum
select count(*) as aggregate from "orders" where "status" = 'open';

-- from: memory of Laravel Eloquent, withCount
select "products".*, (select count(*) from "orders" where "products"."id" = "orders"."product_id") as "orders_count" from "products";

-- from: memory of Knex, count and group by
select "channel", count(*) as "n" from "orders" where not "status" = 'returned' group by "channel";

-- from: memory of Doctrine, paginator's count
SELECT count(DISTINCT o0_.id) AS sclr_0 FROM orders o0_;

-- from: memory of GORM, Count and Group
-- $1: shop
SELECT count(*) FROM "orders" WHERE channel = $1;

-- from: memory of GORM, a subquery
SELECT "status",AVG(amount) as avgamount FROM "orders" GROUP BY "status" HAVING AVG(amount) > (SELECT AVG(amount) FROM "orders" WHERE channel = 'web') - 1000;
