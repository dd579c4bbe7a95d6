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

-- from: memory of Entity Framework Core with Npgsql, count with predicate
SELECT count(*)::int
FROM orders AS o
WHERE o.country = 'CH';

-- from: memory of Ecto, group_by with select_merge and params
-- $1: 100
SELECT o0."country", sum(o0."amount"), avg(o0."quantity")::float FROM "orders" AS o0 WHERE (o0."amount" > $1::numeric) GROUP BY o0."country";

-- from: Entity Framework Core with Npgsql, average by group: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_Property_Select_Average
SELECT avg(o.quantity::double precision)
FROM orders AS o
GROUP BY o.country;

-- from: Entity Framework Core with Npgsql, key and sum: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_Composite_Select_Key_Sum
SELECT o.country, o.status, COALESCE(sum(o.quantity), 0)::int AS "Sum"
FROM orders AS o
GROUP BY o.country, o.status;

-- from: Entity Framework Core with Npgsql, a constant as key: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_Constant_with_element_selector_Select_Sum_Min_Key_Max_Avg
SELECT COALESCE(sum(o0.quantity), 0)::int AS "Sum", o0."Key"
FROM (
    SELECT o.quantity, 2 AS "Key"
    FROM orders AS o
) AS o0
GROUP BY o0."Key";

-- from: Entity Framework Core with Npgsql, an expression as key: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_anonymous_key_type_mismatch_with_aggregate
SELECT count(*)::int AS "I0", o0."I0" AS "I1"
FROM (
    SELECT date_part('month', o.created_on)::int AS "I0"
    FROM orders AS o
) AS o0
GROUP BY o0."I0"
ORDER BY o0."I0" NULLS FIRST;

-- from: Entity Framework Core with Npgsql, a CASE over aggregates: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_aggregate_projecting_conditional_expression
SELECT o.country AS "Key", CASE
    WHEN count(*)::int = 0 THEN 1
    ELSE COALESCE(sum(CASE
        WHEN o.quantity % 2 = 0 THEN 1
        ELSE 0
    END), 0)::int / count(*)::int
END AS "SomeValue"
FROM orders AS o
GROUP BY o.country;

-- from: Entity Framework Core with Npgsql, counts with predicates: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_multiple_Count_with_predicate
SELECT o.country, count(*)::int AS "All", count(*) FILTER (WHERE o.quantity < 3)::int AS "Few", count(*) FILTER (WHERE o.quantity < 7)::int AS "Some"
FROM orders AS o
GROUP BY o.country;

-- from: Entity Framework Core with Npgsql, sums of conditions: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_multiple_Sum_with_conditional_projection
SELECT o.status, COALESCE(sum(CASE
    WHEN o.quantity < 3 THEN o.quantity
    ELSE 0
END), 0)::int AS "Few", COALESCE(sum(CASE
    WHEN o.quantity >= 3 THEN o.quantity
    ELSE 0
END), 0)::int AS "Many"
FROM orders AS o
GROUP BY o.status;

-- from: Entity Framework Core with Npgsql, HAVING and order by a count: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_filter_count_OrderBy_count_Select_sum
SELECT o.country AS "Key", count(*)::int AS "Count", COALESCE(sum(o.quantity), 0)::int AS "Sum"
FROM orders AS o
GROUP BY o.country
HAVING count(*)::int > 4
ORDER BY count(*)::int NULLS FIRST, o.country NULLS FIRST;

-- from: Entity Framework Core with Npgsql, HAVING on the key: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, GroupBy_filter_key
SELECT o.country AS "Key", count(*)::int AS c
FROM orders AS o
GROUP BY o.country
HAVING o.country = 'DE';

-- from: Entity Framework Core with Npgsql, a join: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, Join_GroupBy_Aggregate
-- groups
SELECT c.code AS "Key", avg(o.quantity::double precision) AS "Count"
FROM orders AS o
INNER JOIN countries AS c ON o.country = c.code
GROUP BY c.code;

-- from: Entity Framework Core with Npgsql, an ordinary table left joined to groups: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, Join_GroupBy_Aggregate_with_left_join
SELECT c.code, c.name, c.region, o0."LastOrderID"
FROM countries AS c
LEFT JOIN (
    SELECT o.country, sum(o.quantity) AS "LastOrderID"
    FROM orders AS o
    GROUP BY o.country
    HAVING count(*)::int > 5
) AS o0 ON c.code = o0.country
WHERE c.code LIKE 'A%';

-- from: Entity Framework Core with Npgsql, distinct rows below a group: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, Distinct_GroupBy_Aggregate
SELECT o0.country AS "Key", count(*)::int AS c
FROM (
    SELECT DISTINCT o.id, o.country, o.status, o.created_on
    FROM orders AS o
) AS o0
GROUP BY o0.country;

-- from: Entity Framework Core with Npgsql, groups of a page of rows: npgsql/efcore.pg, NorthwindGroupByQueryNpgsqlTest, OrderBy_Skip_Take_GroupBy_Aggregate
-- $1: 500
-- $2: 80
SELECT max(o0.quantity)
FROM (
    SELECT o.quantity, o.country
    FROM orders AS o
    ORDER BY o.id NULLS FIRST
    LIMIT $1 OFFSET $2
) AS o0
GROUP BY o0.country;

-- from: Ecto, count: elixir-ecto/ecto_sql, postgres_test.exs, aggregates
SELECT count(s0."rating") FROM "orders" AS s0;

-- from: Ecto, count with a filter: elixir-ecto/ecto_sql, postgres_test.exs, aggregate filters
SELECT count(s0."rating") FILTER (WHERE (s0."quantity" > 2) AND (s0."quantity" < 7)) FROM "orders" AS s0;

-- from: Ecto, count of distinct: elixir-ecto/ecto_sql, postgres_test.exs, aggregates
SELECT count(DISTINCT s0."customer_id") FROM "orders" AS s0;

-- from: Ecto, selected_as over sum and coalesce: elixir-ecto/ecto_sql, postgres_test.exs, aliasing a selected value with selected_as/2
SELECT sum(coalesce(s0."rating", 0)) AS "integer" FROM "orders" AS s0;

-- from: Ecto, group_by of selected_as: elixir-ecto/ecto_sql, postgres_test.exs, group_by can reference the alias of a selected value with selected_as/1
SELECT s0."status" AS "integer" FROM "orders" AS s0 GROUP BY "integer";

-- from: Ecto, group_by two columns: elixir-ecto/ecto_sql, postgres_test.exs, group by
SELECT s0."country" FROM "orders" AS s0 GROUP BY s0."country", s0."status";

-- from: jOOQ, filterWhere: jOOQ manual, sql-building/column-expressions/aggregate-functions/aggregate-filter
SELECT
  status,
  count(*),
  count(*) FILTER (WHERE note LIKE 'C%'),
  count(*) FILTER (WHERE note LIKE '%a%')
FROM orders
GROUP BY status;
