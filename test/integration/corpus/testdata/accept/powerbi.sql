-- from: Power BI DirectQuery, a bar chart: AdobeDocs/analytics-platform, BI extension use cases
select "_"."country", "_"."a0", "_"."a1"
from
(
    select "rows"."country" as "country",
        sum("rows"."quantity") as "a0",
        sum("rows"."amount") as "a1"
    from
    (
        select "_"."id", "_"."country", "_"."created_on", "_"."quantity", "_"."amount"
        from "public"."orders" "_"
        where "_"."created_on" < date '2024-02-01' and "_"."created_on" >= date '2024-01-01'
    ) "rows"
    group by "country"
) "_"
where not "_"."a0" is null or not "_"."a1" is null
limit 1000001;

-- from: Power BI DirectQuery, a calculated column: AdobeDocs/analytics-platform, BI extension use cases, transformations
select "_"."country_lower", "_"."a0"
from
(
    select "rows"."country_lower" as "country_lower",
        sum("rows"."amount") as "a0"
    from
    (
        select "_"."created_on" as "created_on",
            "_"."country" as "country",
            "_"."amount" as "amount",
            lower("_"."country") as "country_lower"
        from
        (
            select "_"."created_on", "_"."country", "_"."amount"
            from
            (
                select "created_on", "country", "amount"
                from "public"."orders" "$Table"
            ) "_"
            where "_"."created_on" < date '2025-01-01' and "_"."created_on" >= date '2024-01-01'
        ) "_"
    ) "rows"
    group by "country_lower"
) "_"
where not "_"."a0" is null
limit 1000001;

-- from: Power BI DirectQuery, drill down: AdobeDocs/analytics-platform, BI extension use cases, drill down
select "_"."status" as "c25", "_"."channel" as "c26", "_"."a0" as "a0"
from
(
    select "_"."status", "_"."channel", "_"."a0"
    from
    (
        select "_"."status", "_"."channel", "_"."a0"
        from
        (
            select "rows"."status" as "status", "rows"."channel" as "channel", sum("rows"."amount") as "a0"
            from
            (
                select "_"."status", "_"."channel", "_"."amount"
                from "public"."orders" "_"
                where ("_"."created_on" >= date '2024-01-01' and "_"."country" = 'DE') and "_"."created_on" < date '2025-01-01'
            ) "rows"
            group by "status", "channel"
        ) "_"
        where not "_"."a0" is null
    ) "_"
) "_"
order by "_"."status", "_"."channel"
limit 1001;

-- from: memory of Power BI DirectQuery, a card
select sum("rows"."amount") as "a0"
from
(
    select "_"."amount" as "amount"
    from "public"."orders" "_"
) "rows";

-- from: memory of Power BI DirectQuery, count of rows in a card
select count(*) as "a0"
from "public"."orders" "$Table";

-- from: memory of Power BI DirectQuery, a slicer's values
select "_"."status"
from
(
    select "_"."status"
    from "public"."orders" "_"
    where "_"."status" in ('new', 'open')
    group by "_"."status"
) "_"
order by "_"."status"
limit 101;

-- from: memory of Power BI DirectQuery, average and count over many-to-one relationship
-- groups
select "rows"."category" as "category", avg("rows"."amount") as "a0", cast(count("rows"."amount") as bigint) as "a1"
from
(
    select "$Outer"."amount", "$Inner"."category"
    from
    (
        select "_"."product_id" as "product_id2", "_"."amount" as "amount"
        from "public"."orders" "_"
    ) "$Outer"
    left outer join "public"."products" "$Inner" on ("$Outer"."product_id2" = "$Inner"."id")
    where not "$Outer"."product_id2" is null
) "rows"
group by "category";

-- from: memory of Power BI DirectQuery, the best n of a dimension
select "_"."country", "_"."a0"
from
(
    select "rows"."country" as "country", sum("rows"."amount") as "a0"
    from "public"."orders" "rows"
    group by "country"
) "_"
where not "_"."a0" is null
order by "_"."a0" desc, "_"."country"
limit 3;

-- from: memory of Power BI DirectQuery, year and month of a date
select "rows"."year" as "year", "rows"."month" as "month", sum("rows"."quantity") as "a0"
from
(
    select cast(date_part('year', "_"."created_on") as integer) as "year", cast(date_part('month', "_"."created_on") as integer) as "month", "_"."quantity"
    from "public"."orders" "_"
) "rows"
group by "year", "month";

-- from: memory of Power BI DirectQuery, distinct count with and without NULL
select count(distinct "rows"."customer_id") + max(case when "rows"."customer_id" is null then 1 else 0 end) as "a0"
from "public"."orders" "rows";

-- from: memory of Power BI DirectQuery, minimum and maximum of a date
select min("rows"."created_on") as "a0", max("rows"."created_on") as "a1" from "public"."orders" "rows";

-- from: memory of Power BI, list of tables
select TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE
from INFORMATION_SCHEMA.tables
where TABLE_SCHEMA not in ('information_schema', 'pg_catalog')
order by TABLE_SCHEMA, TABLE_NAME;

-- from: memory of Power BI, columns of a table
-- guest
select COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, case when (data_type like '%unsigned%') then DATA_TYPE || ' unsigned' else DATA_TYPE end as DATA_TYPE
from INFORMATION_SCHEMA.columns
where TABLE_SCHEMA = 'public' and TABLE_NAME = 'countries'
order by TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION;

-- from: memory of Power BI, preview of a table
select "$Table"."code" as "code", "$Table"."name" as "name" from "public"."countries" "$Table" order by 1 limit 1000;

-- from: Power BI DirectQuery, the best n by their names: AdobeDocs/analytics-platform.en, bi-extension/limits.md
-- groups
select "_"."country",
    "_"."a0"
from
(
    select "rows"."country" as "country",
        sum("rows"."quantity") as "a0"
    from
    (
        select "_"."id",
            "_"."customer_id",
            "_"."status",
            "_"."country",
            "_"."created_on",
            "_"."amount",
            "_"."quantity"
        from "public"."orders" "_"
        where (("_"."country" in ('AT', 'DE', 'JP')) and "_"."created_on" < date '2025-01-01') and "_"."created_on" >= date '2024-01-01'
    ) "rows"
    group by "country"
) "_"
where not "_"."a0" is null
limit 1000001;
