-- from: DBeaver, row count of a result: dbeaver, SQLQueryTransformerCount
SELECT COUNT(*) FROM (SELECT status, count(*) FROM orders GROUP BY status) dbvrcnt;

-- from: memory of DBeaver, row count of a table
SELECT count(*) FROM public.orders;

-- from: memory of DBeaver, grouping panel
-- ties
SELECT status, COUNT(*) FROM (SELECT * FROM orders) sub GROUP BY status ORDER BY 2 DESC;

-- from: memory of DBeaver, value list of a filter
-- ties
SELECT status, COUNT(*) FROM public.orders GROUP BY status ORDER BY COUNT(*) DESC LIMIT 200;

-- from: memory of DBeaver, schemas
-- guest
SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass WHERE n.nspname = 'public' ORDER BY nspname;

-- from: memory of DBeaver, tables of a schema
-- masked
SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr, pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass WHERE c.relnamespace='public'::regnamespace AND c.relkind not in ('i','I','c');

-- from: memory of DBeaver, columns of a table
SELECT c.relname,a.attname,a.attnum,a.atttypid::regtype::text,pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) as def_value,dsc.description FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid=c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid=ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid) WHERE NOT a.attisdropped AND c.relname='orders' AND a.attnum > 0 ORDER BY a.attnum;

-- from: memory of DBeaver, statistics of tables
-- masked
select c.oid,pg_catalog.pg_total_relation_size(c.oid) as total_rel_size,pg_catalog.pg_relation_size(c.oid) as rel_size FROM pg_class c WHERE c.relnamespace='public'::regnamespace;

-- from: memory of DBeaver, session setup
SET extra_float_digits = 3;
SET application_name = 'DBeaver 24.1.0 - Main <shop>';
SELECT current_schema(),session_user IS NOT NULL;

-- from: memory of DataGrip, row count
select count(*) from public.orders where status = 'open';

-- from: memory of DataGrip, a result in pages
SELECT t.* FROM (select country, avg(amount) from orders group by country) t ORDER BY 1 LIMIT 501;

-- from: memory of pgAdmin, count rows
-- masked
SELECT COUNT(*) FROM public.orders;

-- from: memory of pgAdmin, properties of tables
SELECT rel.oid IS NOT NULL AS has_oid, rel.relname AS name, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid=rel.oid AND tgisinternal = FALSE) AS triggercount, rel.relkind AS relkind
FROM pg_catalog.pg_class rel WHERE rel.relkind IN ('r','s','t','p') AND rel.relnamespace = 'public'::regnamespace ORDER BY rel.relname;

-- from: memory of Excel through Microsoft Query and psqlODBC, a pivot table's source
SELECT orders.status, Sum(orders.amount) AS "Sum of amount" FROM public.orders orders GROUP BY orders.status;

-- from: memory of psqlODBC, SQLTables
-- guest
select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r', 'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') and n.oid = relnamespace order by nspname, relname;

-- from: memory of psqlODBC, SQLColumns
select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull, c.relhasrules, c.relkind, case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod
from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname = E'orders' and n.nspname = E'public') inner join pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid) inner join pg_catalog.pg_type t on t.oid = a.atttypid)
order by n.nspname, c.relname, attnum;

-- from: memory of psqlODBC, a transaction of one statement with savepoint
BEGIN;
SAVEPOINT _per_query_svp_;
SELECT "orders"."country" AS "C1", COUNT(1) AS "C2" FROM "public"."orders" "orders" GROUP BY "orders"."country";
RELEASE _per_query_svp_;
COMMIT;

-- from: memory of pgJDBC, a fetch size makes portals; setting and SELECT in one transaction
BEGIN;
SET LOCAL statement_timeout = '30s';
SELECT country, count(*) FROM orders GROUP BY country ORDER BY country;
COMMIT;

-- from: memory of pgJDBC, getPrimaryKeys
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME, (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME
FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid) JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid) JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid) JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)
WHERE true AND n.nspname = 'public' AND ct.relname = 'targets' AND i.indisprimary ORDER BY 3, 5, 4;

-- from: memory of pgcli, tables for completion
SELECT  n.nspname schema_name, c.relname table_name
FROM    pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE   c.relkind = ANY('{r,p,f}') AND n.nspname = 'public'
ORDER BY 1,2;

-- from: memory of pgcli, columns for completion
SELECT  nsp.nspname schema_name, cls.relname table_name, att.attname column_name, att.atttypid::regtype::text type_name, att.atthasdef AS has_default, pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default
FROM    pg_catalog.pg_attribute att INNER JOIN pg_catalog.pg_class cls ON att.attrelid = cls.oid INNER JOIN pg_catalog.pg_namespace nsp ON cls.relnamespace = nsp.oid LEFT OUTER JOIN pg_attrdef def ON def.adrelid = att.attrelid AND def.adnum = att.attnum
WHERE   cls.relkind = ANY('{r,p,f}') AND nsp.nspname = 'public' AND NOT att.attisdropped AND att.attnum  > 0
ORDER BY 1, 2, att.attnum;

-- from: memory of pgcli, foreign keys for completion
SELECT s_p.nspname AS parentschema, t_p.relname AS parenttable, unnest((select array_agg(attname ORDER BY i) from (select unnest(confkey) as attnum, generate_subscripts(confkey, 1) as i) x JOIN pg_catalog.pg_attribute c USING(attnum) WHERE c.attrelid = fk.confrelid)) AS parentcolumn, s_c.nspname AS childschema, t_c.relname AS childtable
FROM pg_catalog.pg_constraint fk JOIN pg_catalog.pg_class t_p ON t_p.oid = fk.confrelid JOIN pg_catalog.pg_namespace s_p ON s_p.oid = t_p.relnamespace JOIN pg_catalog.pg_class t_c ON t_c.oid = fk.conrelid JOIN pg_catalog.pg_namespace s_c ON s_c.oid = t_c.relnamespace WHERE fk.contype = 'f';

-- from: memory of pandas read_sql through SQLAlchemy
SELECT country, avg(amount) AS mean_amount, count(*) AS n FROM orders GROUP BY country ORDER BY country;

-- from: memory of R dbplyr, a lazy query
SELECT "country", COUNT(*) AS "n", AVG("amount") AS "mean"
FROM (
  SELECT "orders".*
  FROM "orders"
  WHERE ("is_paid")
) AS "q01"
GROUP BY "country";

-- from: memory of R dbplyr, count and arrange
SELECT "status", COUNT(*) AS "n"
FROM "orders"
GROUP BY "status"
ORDER BY "status" DESC
LIMIT 6;

-- from: memory of Redash, a limited query
SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status LIMIT 1000;

-- from: memory of Redash, schema browser
-- guest
SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, ordinal_position;

-- from: memory of Cube, a rollup by day
SELECT
      date_trunc('day', ("orders".created_at::timestamptz AT TIME ZONE 'UTC')) "orders__created_at_day", count(*) "orders__count", sum("orders".amount) "orders__total"
    FROM
      public.orders AS "orders"  WHERE ("orders".created_at >= '2024-01-01T00:00:00.000Z'::timestamp AND "orders".created_at <= '2024-12-31T23:59:59.999Z'::timestamp) GROUP BY 1 ORDER BY 1 ASC LIMIT 10000;

-- from: ThoughtSpot through ODBC: cube-js/cube, cubesql's tests (ta_1, ca_1)
select "ta_1"."status" as "ca_1", case when sum("ta_1"."quantity") is not null then sum("ta_1"."quantity") else 0 end as "ca_2" from "public"."orders" as "ta_1" group by "ca_1" limit 1000;

-- from: memory of Amazon QuickSight, direct query
SELECT date_trunc('MONTH', "created_at") AS "uuid.created_at_tg", COUNT(*) AS "count" FROM "public"."orders" WHERE "created_at" >= date_trunc('YEAR', timestamp '2024-06-01') GROUP BY date_trunc('MONTH', "created_at") ORDER BY date_trunc('MONTH', "created_at") DESC NULLS LAST LIMIT 2500;

-- from: memory of Sigma, nested WITHs
with "q" as (select "country" as "c0", "amount" as "c1" from "public"."orders") select "q"."c0" as "c_0", sum("q"."c1") as "s_1" from "q" group by "q"."c0" order by "c_0" asc nulls last limit 10001;

-- from: hand-written, a metric over a filtered WITH
WITH "h__model" AS (SELECT "orders"."country" AS "h__country", "orders"."amount" AS "h__amount" FROM "public"."orders" "orders" WHERE "orders"."quantity" >= 2) SELECT "T0"."h__country", SUM("T0"."h__amount") AS "h_sum" FROM "h__model" "T0" GROUP BY 1 ORDER BY 2 DESC LIMIT 100000;

-- from: memory of Domo, an aggregate with quoted names
SELECT "T1"."status" "status", COUNT("T1"."id") "id" FROM "public"."orders" "T1" GROUP BY "T1"."status" ORDER BY 1 ASC;
