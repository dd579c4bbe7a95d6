-- from: memory of dbt, a model as a chain of CTEs
with source as (
    select * from public.orders
),
renamed as (
    select id as order_id, customer_id, status as order_status, amount from source
),
final as (
    select order_status, count(order_id) as number_of_orders, sum(amount) as total_amount from renamed group by order_status
)
select * from final;

-- from: memory of dbt, staged columns by name
with renamed as (
    select status as order_status, amount from public.orders
),
final as (
    select order_status, count(*) as number_of_orders, sum(amount) as total_amount from renamed group by 1
)
select * from final order by order_status;

-- from: memory of dbt test not_null
select
    count(*) as failures,
    count(*) != 0 as should_warn,
    count(*) != 0 as should_error
from (
    select amount from public.orders where amount is null
) dbt_internal_test;

-- from: memory of dbt test accepted_values
select count(*) as failures, count(*) != 0 as should_warn
from (
    with all_values as (
        select status as value_field, count(*) as n_records from public.orders group by status
    )
    select * from all_values where value_field not in ('new','open','shipped','returned')
) dbt_internal_test;

-- from: memory of dbt test unique
select count(*) as failures
from (
    select id as unique_field, count(*) as n_records from public.orders where id is not null group by id having count(*) > 1
) dbt_internal_test;

-- from: memory of dbt test relationships
select count(*) as failures
from (
    with child as (select product_id as from_field from public.orders where product_id is not null),
    parent as (select id as to_field from public.products)
    select from_field from child left join parent on child.from_field = parent.to_field where parent.to_field is null
) dbt_internal_test;

-- from: dbt show, a limited preview: dbt's default__get_limit_subquery_sql
select status, revenue from (
    select status, sum(amount) as revenue from public.orders group by status
) as model_limit_subq
order by status
limit 5;

-- from: memory of dbt table materialization
BEGIN;
create temporary table "orders_by_status__dbt_tmp" as (
    select status, count(*) as n from public.orders group by status
);
select * from "orders_by_status__dbt_tmp" order by status;
COMMIT;

-- from: MetricFlow, a cumulative metric: dbt-labs/metricflow, test_cumulative_metric_with_non_default_grain
SELECT
  metric_time__quarter
  , revenue_all_time
FROM (
  SELECT
    metric_time__quarter
    , LAST_VALUE(revenue_all_time) OVER (
      PARTITION BY metric_time__quarter
      ORDER BY metric_time__month
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS revenue_all_time
  FROM (
    SELECT
      subq_15.month AS metric_time__month
      , DATE_TRUNC('quarter', subq_15.month) AS metric_time__quarter
      , SUM(revenue_src_28000.amount) AS revenue_all_time
    FROM (SELECT DISTINCT month FROM public.calendar) subq_15
    INNER JOIN
      public.orders revenue_src_28000
    ON
      (
        DATE_TRUNC('day', revenue_src_28000.created_at) <= subq_15.month
      )
    GROUP BY
      subq_15.month
      , DATE_TRUNC('quarter', subq_15.month)
  ) subq_21
) subq_22
GROUP BY
  metric_time__quarter
  , revenue_all_time;

-- from: MetricFlow, a metric by month: dbt-labs/metricflow, test_cumulative_metric_no_window
SELECT
  DATE_TRUNC('month', created_at) AS ds__month
  , SUM(amount) AS revenue_all_time
FROM public.orders revenue_src_28000
GROUP BY
  DATE_TRUNC('month', created_at);

-- from: MetricFlow, a ratio of two metrics: dbt-labs/metricflow, test_conversion_rate
SELECT
  country AS country
  , CAST(paid AS DOUBLE PRECISION) / CAST(NULLIF(orders, 0) AS DOUBLE PRECISION) AS paid_rate
FROM (
  SELECT
    COALESCE(subq_22.country, subq_33.country) AS country
    , MAX(subq_22.orders) AS orders
    , MAX(subq_33.paid) AS paid
  FROM (
    SELECT country, SUM(1) AS orders FROM public.orders GROUP BY country
  ) subq_22
  FULL OUTER JOIN (
    SELECT country, SUM(1) AS paid FROM public.orders WHERE is_paid GROUP BY country
  ) subq_33
  ON
    subq_22.country = subq_33.country
  GROUP BY
    COALESCE(subq_22.country, subq_33.country)
) subq_34;

-- from: memory of MetricFlow, count of distinct
SELECT
  status
  , COUNT(DISTINCT customer_id) AS customers
FROM public.orders
GROUP BY
  status;

-- from: memory of dbt snapshot freshness
select max(created_at) as max_loaded_at from public.orders;

-- from: dbt-utils, pivot: dbt-labs/dbt-utils, macros/sql/pivot.sql
select
  country,
    sum(

      case
      when status = 'new'
        then 1
      else 0
      end
    )

            as "new"

    ,

    sum(

      case
      when status = 'shipped'
        then 1
      else 0
      end
    )

            as "shipped"

from "shop"."public"."orders"
group by country;

-- from: dbt-utils, get_column_values: dbt-labs/dbt-utils, macros/sql/get_column_values.sql
-- ties
            select
                status as value

            from "shop"."public"."orders"



            group by status
            order by count(*) desc;

-- from: dbt-utils, equal_rowcount by group, in dbt's wrapper: dbt-labs/dbt-utils, macros/generic_tests/equal_rowcount.sql
select
      sum(coalesce(diff_count, 0)) as failures,
      sum(coalesce(diff_count, 0)) != 0 as should_warn,
      sum(coalesce(diff_count, 0)) != 0 as should_error
    from (
with a as (

    select
      country,
      1 as id_dbtutils_test_equal_rowcount,
      count(*) as count_a
    from "shop"."public"."orders"
    group by id_dbtutils_test_equal_rowcount,country


),
b as (

    select
      country,
      1 as id_dbtutils_test_equal_rowcount,
      count(*) as count_b
    from "shop"."public"."targets"
    group by id_dbtutils_test_equal_rowcount,country

),
final as (

    select

        a.id_dbtutils_test_equal_rowcount as id_dbtutils_test_equal_rowcount_a,
          b.id_dbtutils_test_equal_rowcount as id_dbtutils_test_equal_rowcount_b,
        a.country as country_a,
          b.country as country_b,


        count_a,
        count_b,
        abs(count_a - count_b) as diff_count

    from a
    full join b
    on
    a.id_dbtutils_test_equal_rowcount = b.id_dbtutils_test_equal_rowcount

      and a.country = b.country


)

select * from final
    ) dbt_internal_test;

-- from: dbt-utils, not_null_proportion by group: dbt-labs/dbt-utils, macros/generic_tests/not_null_proportion.sql
with validation as (
  select
    country,
    sum(case when rating is null then 0 else 1 end) / cast(count(*) as numeric(28, 6)) as not_null_proportion
  from "shop"."public"."orders"
  group by country
),
validation_errors as (
  select
    country,
    not_null_proportion
  from validation
  where not_null_proportion < 0.95 or not_null_proportion > 1.0
)
select
  *
from validation_errors;

-- from: dbt-utils, at_least_one by group: dbt-labs/dbt-utils, macros/generic_tests/at_least_one.sql
select *
from (
    with pruned_rows as (
      select
        country ,rating
      from "shop"."public"."orders"

    )
    select

      country,
      count(rating) as filler_column

    from pruned_rows

    group by country

    having count(rating) = 0

) validation_errors;

-- from: MetricFlow, a date part: dbt-labs/metricflow, snapshots, test_simple_query_with_date_part
-- Aggregate Inputs for Simple Metrics
-- Compute Metrics via Expressions
-- Write to DataTable
SELECT
  metric_time__extract_dow
  , SUM(__bookings) AS bookings
FROM (
  -- Read Elements From Semantic Model 'bookings_source'
  -- Metric Time Dimension 'ds'
  -- Select: ['__bookings', 'metric_time__extract_dow']
  SELECT
    EXTRACT(isodow FROM created_on) AS metric_time__extract_dow
    , 1 AS __bookings
  FROM public.orders bookings_source_src_28000
) subq_9
GROUP BY
  metric_time__extract_dow;

-- from: MetricFlow, a metric filled with 0 by a dimension: dbt-labs/metricflow, snapshots, test_simple_fill_nulls_with_0_with_categorical_dimension
SELECT
  booking__is_instant
  , COALESCE(__bookings_fill_nulls_with_0, 0) AS bookings_fill_nulls_with_0
FROM (
  -- Aggregate Inputs for Simple Metrics
  SELECT
    booking__is_instant
    , SUM(__bookings_fill_nulls_with_0) AS __bookings_fill_nulls_with_0
  FROM (
    SELECT
      is_paid AS booking__is_instant
      , 1 AS __bookings_fill_nulls_with_0
    FROM public.orders bookings_source_src_28000
  ) subq_9
  GROUP BY
    booking__is_instant
) subq_10;

-- from: MetricFlow, a metric joined to the time spine by month: dbt-labs/metricflow, snapshots, test_simple_fill_nulls_with_0_month
SELECT
  metric_time__month
  , COALESCE(__bookings_fill_nulls_with_0, 0) AS bookings_fill_nulls_with_0
FROM (
  -- Join to Time Spine Dataset
  SELECT
    subq_19.metric_time__month AS metric_time__month
    , subq_15.__bookings_fill_nulls_with_0 AS __bookings_fill_nulls_with_0
  FROM (
    SELECT
      DATE_TRUNC('month', day) AS metric_time__month
    FROM public.calendar time_spine_src_28006
    GROUP BY
      DATE_TRUNC('month', day)
  ) subq_19
  LEFT OUTER JOIN (
    -- Aggregate Inputs for Simple Metrics
    SELECT
      metric_time__month
      , SUM(__bookings_fill_nulls_with_0) AS __bookings_fill_nulls_with_0
    FROM (
      SELECT
        DATE_TRUNC('month', created_on) AS metric_time__month
        , 1 AS __bookings_fill_nulls_with_0
      FROM public.orders bookings_source_src_28000
    ) subq_14
    GROUP BY
      metric_time__month
  ) subq_15
  ON
    subq_19.metric_time__month = subq_15.metric_time__month
) subq_20;

-- from: MetricFlow, a derived metric: dbt-labs/metricflow, snapshots, test_derived_metric
SELECT
  metric_time__day
  , (bookings - ref_bookings) * 1.0 / bookings AS non_referred_bookings_pct
FROM (
  SELECT
    metric_time__day
    , SUM(__referred_bookings) AS ref_bookings
    , SUM(__bookings) AS bookings
  FROM (
    SELECT
      DATE_TRUNC('month', created_on) AS metric_time__day
      , 1 AS __bookings
      , CASE WHEN rating IS NOT NULL THEN 1 ELSE 0 END AS __referred_bookings
    FROM public.orders bookings_source_src_28000
  ) subq_16
  GROUP BY
    metric_time__day
) subq_18;

-- from: MetricFlow, a nested derived metric over one WITH: dbt-labs/metricflow, snapshots, test_nested_derived_metric
WITH sma_28009_cte AS (
  -- Read Elements From Semantic Model 'bookings_source'
  -- Metric Time Dimension 'ds'
  SELECT
    DATE_TRUNC('month', created_on) AS metric_time__day
    , 1 AS __bookings
    , CASE WHEN is_paid THEN 1 ELSE 0 END AS __instant_bookings
    , CASE WHEN rating IS NOT NULL THEN 1 ELSE 0 END AS __referred_bookings
  FROM public.orders bookings_source_src_28000
)

SELECT
  metric_time__day AS metric_time__day
  , non_referred + (instant * 1.0 / bookings) AS instant_plus_non_referred_bookings_pct
FROM (
  -- Combine Aggregated Outputs
  SELECT
    COALESCE(subq_27.metric_time__day, subq_32.metric_time__day) AS metric_time__day
    , MAX(subq_27.non_referred) AS non_referred
    , MAX(subq_32.instant) AS instant
    , MAX(subq_32.bookings) AS bookings
  FROM (
    -- Compute Metrics via Expressions
    SELECT
      metric_time__day
      , (bookings - ref_bookings) * 1.0 / bookings AS non_referred
    FROM (
      SELECT
        metric_time__day
        , SUM(__referred_bookings) AS ref_bookings
        , SUM(__bookings) AS bookings
      FROM sma_28009_cte
      GROUP BY
        metric_time__day
    ) subq_26
  ) subq_27
  FULL OUTER JOIN (
    SELECT
      metric_time__day
      , SUM(__instant_bookings) AS instant
      , SUM(__bookings) AS bookings
    FROM sma_28009_cte
    GROUP BY
      metric_time__day
  ) subq_32
  ON
    subq_27.metric_time__day = subq_32.metric_time__day
  GROUP BY
    COALESCE(subq_27.metric_time__day, subq_32.metric_time__day)
) subq_33;

-- from: MetricFlow, a derived metric with an offset over one WITH: dbt-labs/metricflow, snapshots, test_derived_metric_with_offset_window
WITH sma_28009_cte AS (
  -- Read Elements From Semantic Model 'bookings_source'
  -- Metric Time Dimension 'ds'
  SELECT
    DATE_TRUNC('day', created_on) AS metric_time__day
    , 1 AS __bookings
  FROM public.orders bookings_source_src_28000
)

SELECT
  metric_time__day AS metric_time__day
  , bookings - bookings_2_weeks_ago AS bookings_growth_2_weeks
FROM (
  -- Combine Aggregated Outputs
  SELECT
    COALESCE(subq_23.metric_time__day, subq_33.metric_time__day) AS metric_time__day
    , MAX(subq_23.bookings) AS bookings
    , MAX(subq_33.bookings_2_weeks_ago) AS bookings_2_weeks_ago
  FROM (
    SELECT
      metric_time__day
      , SUM(__bookings) AS bookings
    FROM sma_28009_cte
    GROUP BY
      metric_time__day
  ) subq_23
  FULL OUTER JOIN (
    -- Join to Time Spine Dataset
    SELECT
      time_spine_src_28006.day AS metric_time__day
      , subq_27.__bookings AS bookings_2_weeks_ago
    FROM public.calendar time_spine_src_28006
    INNER JOIN (
      SELECT
        metric_time__day
        , SUM(__bookings) AS __bookings
      FROM sma_28009_cte
      GROUP BY
        metric_time__day
    ) subq_27
    ON
      time_spine_src_28006.day - MAKE_INTERVAL(days => 14) = subq_27.metric_time__day
  ) subq_33
  ON
    subq_23.metric_time__day = subq_33.metric_time__day
  GROUP BY
    COALESCE(subq_23.metric_time__day, subq_33.metric_time__day)
) subq_34;

-- from: MetricFlow, a filter on a joined dimension: dbt-labs/metricflow, snapshots, test_filter_with_where_constraint_on_join_dim
SELECT
  booking__is_instant
  , SUM(bookings) AS bookings
FROM (
  SELECT
    subq_12.booking__is_instant AS booking__is_instant
    , listings_latest_src_28000.category AS listing__country_latest
    , subq_12.__bookings AS bookings
  FROM (
    SELECT
      product_id AS listing
      , is_paid AS booking__is_instant
      , 1 AS __bookings
    FROM public.orders bookings_source_src_28000
  ) subq_12
  LEFT OUTER JOIN
    public.products listings_latest_src_28000
  ON
    subq_12.listing = listings_latest_src_28000.id
) subq_17
WHERE listing__country_latest = 'Seat'
GROUP BY
  booking__is_instant;

-- from: MetricFlow, a filter by a boolean dimension, grouped by a joined one: dbt-labs/metricflow, snapshots, test_single_categorical_dimension_pushdown
SELECT
  listing__country_latest
  , SUM(bookings) AS bookings
FROM (
  SELECT
    subq_12.booking__is_instant AS booking__is_instant
    , listings_latest_src_28000.category AS listing__country_latest
    , subq_12.__bookings AS bookings
  FROM (
    SELECT
      product_id AS listing
      , is_paid AS booking__is_instant
      , 1 AS __bookings
    FROM public.orders bookings_source_src_28000
  ) subq_12
  LEFT OUTER JOIN
    public.products listings_latest_src_28000
  ON
    subq_12.listing = listings_latest_src_28000.id
) subq_17
WHERE booking__is_instant
GROUP BY
  listing__country_latest;

-- from: MetricFlow, a ratio of metrics of two sources: dbt-labs/metricflow, snapshots, test_metric_with_simple_metrics_from_multiple_sources_no_dimensions
SELECT
  CAST(MAX(subq_19.bookings) AS DOUBLE PRECISION) / CAST(NULLIF(MAX(subq_25.listings), 0) AS DOUBLE PRECISION) AS bookings_per_listing
FROM (
  SELECT
    SUM(1) AS bookings
  FROM public.orders bookings_source_src_28000
) subq_19
CROSS JOIN (
  SELECT
    SUM(1) AS listings
  FROM public.products listings_latest_src_28000
) subq_25;

-- from: MetricFlow, a metric in a filter: dbt-labs/metricflow, snapshots, test_query_with_simple_metric_in_where_filter
SELECT
  SUM(listings) AS listings
FROM (
  SELECT
    subq_31.listing__bookings AS listing__bookings
    , subq_24.__listings AS listings
  FROM (
    SELECT
      id AS listing
      , 1 AS __listings
    FROM public.products listings_latest_src_28000
  ) subq_24
  LEFT OUTER JOIN (
    SELECT
      listing
      , SUM(__bookings) AS listing__bookings
    FROM (
      SELECT
        product_id AS listing
        , 1 AS __bookings
      FROM public.orders bookings_source_src_28000
    ) subq_28
    GROUP BY
      listing
  ) subq_31
  ON
    subq_24.listing = subq_31.listing
) subq_33
WHERE listing__bookings > 2;
