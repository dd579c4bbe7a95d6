-- from: Grafana, $__timeGroupAlias and $__timeFilter: grafana/grafana, pkg/tsdb/grafana-postgresql-datasource/macros_test.go
SELECT floor(extract(epoch from created_at)/86400)*86400 AS "time", count(*) AS "orders"
FROM orders
WHERE created_at BETWEEN '2024-01-01T00:00:00Z' AND '2024-12-31T23:59:59Z'
GROUP BY 1
ORDER BY 1;

-- from: Grafana, $__timeGroup with a metric column: grafana/grafana, pkg/tsdb/grafana-postgresql-datasource/macros_test.go
SELECT floor(extract(epoch from created_at)/604800)*604800 as time, country AS metric, sum(amount) AS value
FROM orders
WHERE created_at BETWEEN '2024-03-01T00:00:00Z' AND '2024-05-31T23:59:59Z'
GROUP BY time, country
ORDER BY time, country;

-- from: Grafana, $__unixEpochGroup: grafana/grafana, pkg/tsdb/grafana-postgresql-datasource/macros_test.go
SELECT floor((quantity)/3)*3 AS "time", count(*) AS value FROM orders GROUP BY 1 ORDER BY 1;

-- from: Grafana, $__timeFrom and $__timeTo: grafana/grafana, pkg/tsdb/grafana-postgresql-datasource/macros_test.go
SELECT count(*) FROM orders WHERE created_at >= '2024-02-01T00:00:00Z' AND created_at <= '2024-02-29T23:59:59.999Z';

-- from: memory of Grafana, table panel
SELECT country, count(id) AS "count", avg(amount) AS "mean" FROM orders GROUP BY country ORDER BY country LIMIT 50;

-- from: memory of Grafana, builder mode
SELECT SUM(amount), status FROM orders WHERE (channel = 'web' AND is_paid = true) GROUP BY status LIMIT 50;

-- from: memory of Grafana, a template variable
SELECT DISTINCT country AS __text FROM orders;

-- from: memory of Grafana, a multi-value variable in a filter
SELECT created_on AS "time", count(*) AS value FROM orders WHERE country IN ('AT','DE','CH') AND created_on BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY created_on ORDER BY created_on;

-- from: memory of Grafana, stat panel with a comparison, community dashboards
SELECT now() IS NOT NULL AS time, count(*) FILTER (WHERE is_paid) * 100.0 / count(*) AS "paid %" FROM orders;

-- from: memory of Grafana, time_bucket without TimescaleDB
SELECT date_bin('7 days', created_at, TIMESTAMP '2024-01-01') AS "time", avg(amount) FROM orders GROUP BY 1 ORDER BY 1;

-- from: memory of Grafana, version probe of the data source
SELECT current_setting('server_version_num')::int/100 AS version;

-- from: memory of Grafana, tables of the builder
SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i, string_to_array(current_setting('search_path'),',') s) THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1 DESC;
