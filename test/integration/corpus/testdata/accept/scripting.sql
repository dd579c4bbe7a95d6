-- from: Laravel Eloquent 8.83.26, recorded: count
-- $1: open
select count(*) as aggregate from "orders" where "status" = $1;

-- from: Laravel Eloquent 8.83.26, recorded: sum and whereIn
-- $1: AT
-- $2: DE
select sum("amount") as aggregate from "orders" where "country" in ($1, $2) and "rating" is not null;

-- from: Laravel Eloquent 8.83.26, recorded: avg
-- $1: t
select avg("quantity") as aggregate from "orders" where "is_paid" = $1;

-- from: Laravel Eloquent 8.83.26, recorded: groupBy and havingRaw
-- $1: 100
select "country", count(*) as n, sum(amount) as total from "orders" group by "country" having count(*) > $1 order by "total" desc limit 3;

-- from: Laravel Eloquent 8.83.26, recorded: getCountForPagination of groups
select count(*) as aggregate from (select "country", avg(amount) as mean from "orders" group by "country") as "aggregate_table";

-- from: Laravel Eloquent 8.83.26, recorded: withCount
select "products".*, (select count(*) from "orders" where "products"."id" = "orders"."product_id") as "orders_count" from "products" order by "id" asc limit 5;

-- from: Laravel Eloquent 8.83.26, recorded: withSum
select "products".*, (select sum("orders"."amount") from "orders" where "products"."id" = "orders"."product_id") as "orders_sum_amount" from "products" order by "id" asc limit 5;

-- from: Laravel Eloquent 8.83.26, recorded: whereHas
-- $1: Seat
select count(*) as aggregate from "orders" where exists (select * from "products" where "orders"."product_id" = "products"."id" and "category" = $1);

-- from: Laravel Eloquent 8.83.26, recorded: whereBetween and orWhere
-- $1: 2024-01-01
-- $2: 2024-03-31
-- $3: web
-- $4: 5
select count(*) as aggregate from "orders" where "created_on" between $1 and $2 and ("channel" = $3 or "quantity" > $4);

-- from: Laravel Eloquent 8.83.26, recorded: whereYear and whereMonth
-- $1: 2024
-- $2: 3
select count(*) as aggregate from "orders" where extract(year from "created_at") = $1 and extract(month from "created_at") = $2;

-- from: Laravel Eloquent 8.83.26, recorded: join
select "products"."category", avg(orders.amount) as mean from "orders" inner join "products" on "products"."id" = "orders"."product_id" group by "products"."category";

-- from: Laravel Eloquent 8.83.26, recorded: distinct.count
select count(distinct "customer_id") as aggregate from "orders";

-- from: Laravel Eloquent 8.83.26, recorded: fromSub
select avg("n") as aggregate from (select "country", count(*) as n from "orders" group by "country") as "t";

-- from: Laravel Eloquent 8.83.26, recorded: exists
-- $1: new
select exists(select * from "orders" where "status" = $1) as "exists";

-- from: Laravel Eloquent 8.83.26, recorded: whereDate
-- $1: 2024-03-01
select count(*) as aggregate from "orders" where "created_at"::date = $1;

-- from: Doctrine ORM 2.14.1, recorded: count of a repository
-- $1: new
-- $2: t
SELECT COUNT(*) FROM orders t0 WHERE t0.status = $1 AND t0.is_paid = $2;

-- from: Doctrine ORM 2.14.1, recorded: DQL with GROUP BY and HAVING
-- $1: 100
SELECT o0_.country AS country_0, COUNT(o0_.id) AS sclr_1, SUM(o0_.amount) AS sclr_2 FROM orders o0_ WHERE o0_.is_paid = true GROUP BY o0_.country HAVING COUNT(o0_.id) > $1 ORDER BY sclr_2 DESC;

-- from: Doctrine ORM 2.14.1, recorded: DQL with a join
SELECT p0_.category AS category_0, AVG(o1_.amount) AS sclr_1 FROM orders o1_ INNER JOIN products p0_ ON o1_.product_id = p0_.id GROUP BY p0_.category;

-- from: Doctrine ORM 2.14.1, recorded: DQL with CASE and DISTINCT
SELECT SUM(CASE WHEN o0_.status = 'shipped' THEN o0_.quantity ELSE 0 END) AS sclr_0, COUNT(DISTINCT o0_.country) AS sclr_1 FROM orders o0_ WHERE o0_.rating IS NULL OR o0_.quantity BETWEEN 2 AND 5;

-- from: Doctrine ORM 2.14.1, recorded: DQL with EXISTS
SELECT COUNT(o0_.id) AS sclr_0 FROM orders o0_ WHERE EXISTS (SELECT p1_.id FROM products p1_ WHERE p1_.id = o0_.product_id AND p1_.category = 'Seat');

-- from: Doctrine ORM 2.14.1, recorded: the paginator's count
SELECT COUNT(*) AS dctrn_count FROM (SELECT DISTINCT id_0 FROM (SELECT o0_.id AS id_0, o0_.status AS status_1, o0_.country AS country_2, o0_.quantity AS quantity_3, o0_.rating AS rating_4, o0_.amount AS amount_5, o0_.is_paid AS is_paid_6 FROM orders o0_ WHERE o0_.status = 'new') dctrn_result) dctrn_table;

-- from: DBIx::Class 0.082843, recorded: count
-- $1: open
SELECT COUNT( * ) FROM "orders" "me" WHERE ( "status" = $1 );

-- from: DBIx::Class 0.082843, recorded: sum of a column
-- $1: t
-- $2: 3
SELECT SUM( "me"."amount" ) FROM "orders" "me" WHERE ( ( ( "rating" IS NULL OR "is_paid" = $1 ) AND "quantity" >= $2 ) );

-- from: DBIx::Class 0.082843, recorded: group_by and having
-- $1: 100
-- $2: 3
SELECT "me"."country", COUNT( "id" ) AS "n", AVG( "amount" ) AS "mean" FROM "orders" "me" GROUP BY "country" HAVING count(id) > $1 ORDER BY "mean" DESC LIMIT $2;

-- from: DBIx::Class 0.082843, recorded: count of groups
SELECT COUNT( * ) FROM (SELECT "me"."country", "me"."status" FROM "orders" "me" GROUP BY "country", "status") "me";

-- from: DBIx::Class 0.082843, recorded: a join
-- groups
-- $1: t
SELECT "product"."category", SUM( "me"."amount" ) FROM "orders" "me" LEFT JOIN "products" "product" ON "product"."id" = "me"."product_id" WHERE ( "product"."active" = $1 ) GROUP BY "product"."category";

-- from: dbplyr 2.3.0, recorded: count and arrange
-- ties
SELECT "status", COUNT(*) AS "n"
FROM "orders"
GROUP BY "status"
ORDER BY "n" DESC;

-- from: dbplyr 2.3.0, recorded: filter and summarise
SELECT
  "country",
  COUNT(*) AS "n",
  AVG("amount") AS "mean",
  SUM("quantity") AS "total"
FROM "orders"
WHERE ("is_paid")
GROUP BY "country";

-- from: dbplyr 2.3.0, recorded: a filter after summarise
SELECT "country", COUNT(*) AS "n"
FROM "orders"
GROUP BY "country"
HAVING (COUNT(*) > 100.0)
ORDER BY "country"
LIMIT 3;

-- from: dbplyr 2.3.0, recorded: mutate with case_when
SELECT "size", COUNT(*) AS "n"
FROM (
  SELECT
    *,
    CASE
WHEN ("quantity" < 3.0) THEN 'few'
WHEN ("quantity" < 7.0) THEN 'some'
ELSE 'many'
END AS "size"
  FROM "orders"
) "q01"
GROUP BY "size";

-- from: dbplyr 2.3.0, recorded: ifelse in a sum
SELECT SUM(CASE WHEN ("status" = 'shipped') THEN "amount" WHEN NOT ("status" = 'shipped') THEN 0.0 END) AS "shipped"
FROM "orders";

-- from: dbplyr 2.3.0, recorded: left_join
SELECT "category", AVG("amount") AS "m"
FROM (
  SELECT "orders".*, "sku", "name", "category", "list_price", "weight", "active"
  FROM "orders"
  LEFT JOIN "products"
    ON ("orders"."product_id" = "products"."id")
) "q01"
GROUP BY "category";

-- from: dbplyr 2.3.0, recorded: in, is.na, between
SELECT COUNT(*) AS "n"
FROM "orders"
WHERE
  ("country" IN ('AT', 'DE')) AND
  (NOT(("rating" IS NULL))) AND
  ("quantity" BETWEEN 2.0 AND 5.0);

-- from: dbplyr 2.3.0, recorded: sd
SELECT STDDEV_SAMP("amount") AS "s"
FROM "orders";

-- from: dbplyr 2.3.0, recorded: tally
SELECT COUNT(*) AS "n"
FROM "orders";

-- from: dbplyr 2.3.0, recorded: n_distinct
SELECT COUNT(DISTINCT "customer_id") AS "k"
FROM "orders";

-- from: dbplyr 2.3.0, recorded: semi_join
SELECT COUNT(*) AS "n"
FROM (
  SELECT *
  FROM "orders"
  WHERE EXISTS (
    SELECT 1 FROM (
    SELECT *
    FROM "products"
    WHERE ("category" = 'Seat')
) "RHS"
    WHERE ("orders"."product_id" = "RHS"."id")
  )
) "q01";

-- from: dbplyr, count of filtered rows, the first five: AdobeDocs/analytics-platform.en, bi-extension/limits.md
SELECT "status", COUNT(*) AS "n"
FROM (
  SELECT "orders".*
  FROM "orders"
  WHERE ("created_on" >= '2024-01-01' AND "created_on" < '2024-12-01')
) AS "q01"
GROUP BY "status"
ORDER BY "n" DESC
LIMIT 5;

-- from: dbplyr, sums of filtered rows in order: AdobeDocs/analytics-platform.en, bi-extension/sort.md
SELECT
  "country",
  SUM("amount") AS "amount",
  SUM("quantity") AS "quantity"
FROM (
  SELECT "orders".*
  FROM "orders"
  WHERE ("created_on" >= '2024-01-01' AND "created_on" < '2024-12-01')
) AS "q01"
GROUP BY "country"
ORDER BY "amount" DESC
LIMIT 1000;
