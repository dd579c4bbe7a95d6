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

-- from: memory of MetricFlow, a metric joined to the time spine and filled with 0
SELECT
  subq_9.day AS metric_time__day
  , COALESCE(subq_6.bookings, 0) AS bookings_fill_nulls_with_0
FROM public.calendar subq_9
LEFT OUTER JOIN (
  SELECT created_on AS metric_time__day, SUM(1) AS bookings FROM public.orders bookings_source_src_28000 GROUP BY created_on
) subq_6
ON
  subq_9.day = subq_6.metric_time__day;

-- from: memory of MetricFlow, a derived metric with an offset
SELECT
  metric_time__day
  , bookings - bookings_2_weeks_ago AS bookings_growth_2_weeks
FROM (
  SELECT
    COALESCE(subq_16.metric_time__day, subq_24.metric_time__day) AS metric_time__day
    , MAX(subq_16.bookings) AS bookings
    , MAX(subq_24.bookings_2_weeks_ago) AS bookings_2_weeks_ago
  FROM (
    SELECT created_on AS metric_time__day, SUM(1) AS bookings FROM public.orders GROUP BY created_on
  ) subq_16
  FULL OUTER JOIN (
    SELECT
      time_spine.day AS metric_time__day
      , SUM(subq_17.bookings) AS bookings_2_weeks_ago
    FROM public.calendar time_spine
    INNER JOIN (
      SELECT created_on AS metric_time__day, COUNT(*) AS bookings FROM public.orders GROUP BY created_on
    ) subq_17
    ON
      time_spine.day - MAKE_INTERVAL(days => 14) = subq_17.metric_time__day
    GROUP BY time_spine.day
  ) subq_24
  ON
    subq_16.metric_time__day = subq_24.metric_time__day
  GROUP BY
    COALESCE(subq_16.metric_time__day, subq_24.metric_time__day)
) subq_25;

-- from: memory of MetricFlow, count of distinct
SELECT
  status
  , COUNT(DISTINCT customer_id) AS customers
FROM public.orders
GROUP BY
  status;

-- from: memory of dbt snapshot freshness
select max(created_at) as max_loaded_at from public.orders;

-- from: memory of dbt_utils, get_column_values
select status as value
from public.orders
group by status
order by count(*) desc, status;

-- from: memory of dbt_utils, pivot
select
  country,
  sum(case when status = 'new' then 1 else 0 end) as "new",
  sum(case when status = 'open' then 1 else 0 end) as "open",
  sum(case when status = 'shipped' then 1 else 0 end) as "shipped"
from public.orders
group by country;
