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

-- from: memory of Excel through Microsoft Query and psqlODBC, a pivot table's source
SELECT orders.status, Sum(orders.amount) AS "Sum of amount" FROM public.orders orders GROUP BY orders.status;

-- from: memory of psqlODBC, a transaction of one statement with savepoint
BEGIN;
SAVEPOINT _per_query_svp_;
SELECT "orders"."country" AS "C1", COUNT(1) AS "C2" FROM "public"."orders" "orders" GROUP BY "orders"."country";
RELEASE _per_query_svp_;
COMMIT;

-- from: memory of pandas read_sql through SQLAlchemy
SELECT country, avg(amount) AS mean_amount, count(*) AS n FROM orders GROUP BY country ORDER BY country;

-- from: memory of Redash, a limited query
SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status LIMIT 1000;

-- from: memory of Redash, schema browser
SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, ordinal_position;

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

-- from: pgJDBC 42.5.5, recorded: getTables
-- guest
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS TABLE_TYPE, d.description AS REMARKS,  '' as TYPE_CAT, '' as TYPE_SCHEM, '' as TYPE_NAME, '' AS SELF_REFERENCING_COL_NAME, '' AS REF_GENERATION  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'public' AND c.relname LIKE '%' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ) )  ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME;

-- from: pgJDBC 42.5.5, recorded: getColumns
SELECT * FROM (SELECT n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype  FROM pg_catalog.pg_namespace n  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)  JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class')  LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND dn.nspname='pg_catalog')  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped  AND n.nspname LIKE 'public' AND c.relname LIKE 'orders') c WHERE true  AND attname LIKE '%' ORDER BY nspname,c.relname,attnum;

-- from: pgJDBC 42.5.5, recorded: getPrimaryKeys
SELECT        result.TABLE_CAT,        result.TABLE_SCHEM,        result.TABLE_NAME,        result.COLUMN_NAME,        result.KEY_SEQ,        result.PK_NAME FROM      (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,   (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,   information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE true  AND n.nspname = 'public' AND ct.relname = 'targets' AND i.indisprimary  ) result where  result.A_ATTNUM = (result.KEYS).x  ORDER BY result.table_name, result.pk_name, result.key_seq;

-- from: pgJDBC 42.5.5, recorded: getIndexInfo
-- masked
SELECT     tmp.TABLE_CAT,     tmp.TABLE_SCHEM,     tmp.TABLE_NAME,     tmp.NON_UNIQUE,     tmp.INDEX_QUALIFIER,     tmp.INDEX_NAME,     tmp.TYPE,     tmp.ORDINAL_POSITION,     trim(both '"' from pg_catalog.pg_get_indexdef(tmp.CI_OID, tmp.ORDINAL_POSITION, false)) AS COLUMN_NAME,   CASE tmp.AM_NAME     WHEN 'btree' THEN CASE tmp.I_INDOPTION[tmp.ORDINAL_POSITION - 1] & 1::smallint       WHEN 1 THEN 'D'       ELSE 'A'     END     ELSE NULL   END AS ASC_OR_DESC,     tmp.CARDINALITY,     tmp.PAGES,     tmp.FILTER_CONDITION FROM (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, NOT i.indisunique AS NON_UNIQUE,   NULL AS INDEX_QUALIFIER, ci.relname AS INDEX_NAME,   CASE i.indisclustered     WHEN true THEN 1    ELSE CASE am.amname       WHEN 'hash' THEN 2      ELSE 3    END   END AS TYPE,   (information_schema._pg_expandarray(i.indkey)).n AS ORDINAL_POSITION,   ci.reltuples AS CARDINALITY,   ci.relpages AS PAGES,   pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS FILTER_CONDITION,   ci.oid AS CI_OID,   i.indoption AS I_INDOPTION,   am.amname AS AM_NAME FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON (ct.oid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid)   JOIN pg_catalog.pg_am am ON (ci.relam = am.oid) WHERE true  AND n.nspname = 'public' AND ct.relname = 'orders') AS tmp ORDER BY NON_UNIQUE, TYPE, INDEX_NAME, ORDINAL_POSITION;

-- from: pgJDBC 42.5.5, recorded: getSchemas
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'i' THEN 'TEMPORARY INDEX'   WHEN 'S' THEN 'TEMPORARY SEQUENCE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'i' THEN 'INDEX'  WHEN 'P' then 'PARTITIONED INDEX'  WHEN 'S' THEN 'SEQUENCE'  WHEN 'v' THEN 'VIEW'  WHEN 'c' THEN 'TYPE'  WHEN 'f' THEN 'FOREIGN TABLE'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS TABLE_TYPE, d.description AS REMARKS,  '' as TYPE_CAT, '' as TYPE_SCHEM, '' as TYPE_NAME, '' AS SELF_REFERENCING_COL_NAME, '' AS REF_GENERATION  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND n.nspname LIKE 'public' AND c.relname LIKE '%' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' )  OR ( c.relkind = 'v' AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ) )  ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME;

-- from: psqlODBC 13.02, recorded: large objects, on connecting
select oid, typbasetype from pg_type where typname = 'lo';

-- from: psqlODBC 13.02, recorded: SQLTables
-- guest
select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r', 'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') and n.oid = relnamespace order by nspname, relname;

-- from: psqlODBC 13.02, recorded: SQLColumns
select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull, c.relhasrules, c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid), case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod, 0, attidentity, c.relhassubclass from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname like 'orders' and n.nspname like 'public') inner join pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid) inner join pg_catalog.pg_type t on t.oid = a.atttypid) left outer join pg_attrdef d on a.atthasdef and d.adrelid = a.attrelid and d.adnum = a.attnum order by n.nspname, c.relname, attnum;

-- from: pgcli 3.5.0, recorded: search path for completion
-- masked
SELECT * FROM unnest(current_schemas(true));

-- from: pgcli 3.5.0, recorded: schemas for completion
SELECT  nspname
FROM    pg_catalog.pg_namespace
ORDER BY 1;

-- from: pgcli 3.5.0, recorded: tables for completion
-- $1: {r,p,f}
-- guest
SELECT  n.nspname schema_name,
        c.relname table_name
FROM    pg_catalog.pg_class c
        LEFT JOIN pg_catalog.pg_namespace n
            ON n.oid = c.relnamespace
WHERE   c.relkind = ANY($1)
ORDER BY 1,2;

-- from: pgcli 3.5.0, recorded: columns for completion
-- $1: {r,p,f}
-- guest
SELECT  nsp.nspname schema_name,
        cls.relname table_name,
        att.attname column_name,
        att.atttypid::regtype::text type_name,
        att.atthasdef AS has_default,
        pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default
FROM    pg_catalog.pg_attribute att
        INNER JOIN pg_catalog.pg_class cls
            ON att.attrelid = cls.oid
        INNER JOIN pg_catalog.pg_namespace nsp
            ON cls.relnamespace = nsp.oid
        LEFT OUTER JOIN pg_attrdef def
            ON def.adrelid = att.attrelid
            AND def.adnum = att.attnum
WHERE   cls.relkind = ANY($1)
        AND NOT att.attisdropped
        AND att.attnum  > 0
ORDER BY 1, 2, att.attnum;

-- from: pgcli 3.5.0, recorded: foreign keys for completion
SELECT s_p.nspname AS parentschema,
       t_p.relname AS parenttable,
       unnest((
        select
            array_agg(attname ORDER BY i)
        from
            (select unnest(confkey) as attnum, generate_subscripts(confkey, 1) as i) x
            JOIN pg_catalog.pg_attribute c USING(attnum)
            WHERE c.attrelid = fk.confrelid
        )) AS parentcolumn,
       s_c.nspname AS childschema,
       t_c.relname AS childtable,
       unnest((
        select
            array_agg(attname ORDER BY i)
        from
            (select unnest(conkey) as attnum, generate_subscripts(conkey, 1) as i) x
            JOIN pg_catalog.pg_attribute c USING(attnum)
            WHERE c.attrelid = fk.conrelid
        )) AS childcolumn
FROM pg_catalog.pg_constraint fk
JOIN pg_catalog.pg_class      t_p ON t_p.oid = fk.confrelid
JOIN pg_catalog.pg_namespace  s_p ON s_p.oid = t_p.relnamespace
JOIN pg_catalog.pg_class      t_c ON t_c.oid = fk.conrelid
JOIN pg_catalog.pg_namespace  s_c ON s_c.oid = t_c.relnamespace
WHERE fk.contype = 'f';

-- from: pgcli 3.5.0, recorded: types for completion
-- guest
SELECT n.nspname schema_name,
       t.typname type_name
FROM   pg_catalog.pg_type t
       INNER JOIN pg_catalog.pg_namespace n
          ON n.oid = t.typnamespace
WHERE ( t.typrelid = 0  -- non-composite types
        OR (  -- composite type, but not a table
              SELECT c.relkind = 'c'
              FROM pg_catalog.pg_class c
              WHERE c.oid = t.typrelid
            )
      )
      AND NOT EXISTS( -- ignore array types
            SELECT  1
            FROM    pg_catalog.pg_type el
            WHERE   el.oid = t.typelem AND el.typarray = t.oid
          )
      AND n.nspname <> 'pg_catalog'
      AND n.nspname <> 'information_schema'
ORDER BY 1, 2;

-- from: pgcli 3.5.0, recorded: databases for completion
SELECT d.datname
FROM pg_catalog.pg_database d
ORDER BY 1;

-- from: pgcli 3.5.0, recorded: functions for completion
-- guest
SELECT n.nspname schema_name,
        p.proname func_name,
        p.proargnames,
        COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[],
        p.proargmodes,
        prorettype::regtype::text return_type,
        p.prokind = 'a' is_aggregate,
        p.prokind = 'w' is_window,
        p.proretset is_set_returning,
        d.deptype = 'e' is_extension,
        pg_get_expr(proargdefaults, 0) AS arg_defaults
FROM pg_catalog.pg_proc p
        INNER JOIN pg_catalog.pg_namespace n
            ON n.oid = p.pronamespace
LEFT JOIN pg_depend d ON d.objid = p.oid and d.deptype = 'e'
WHERE p.prorettype::regtype != 'trigger'::regtype
ORDER BY 1, 2;

-- from: DBeaver, schemas: dbeaver/dbeaver, PostgreDatabase.SchemaCache
SELECT n.oid,n.*,d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=n.oid AND d.objsubid=0 AND d.classoid='pg_namespace'::regclass
 WHERE n.nspname LIKE 'public' ORDER BY nspname;

-- from: pgAdmin, count rows: pgadmin-org/pgadmin4, templates/tables/sql/default/get_table_row_count.sql
SELECT COUNT(*)::text FROM public.orders;

-- from: pgAdmin, tables of a schema: pgadmin-org/pgadmin4, templates/tables/sql/default/nodes.sql
-- guest
SELECT rel.oid, rel.relname AS name,
    (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid=rel.oid AND tgisinternal = FALSE) AS triggercount,
    (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid=rel.oid AND tgisinternal = FALSE AND tgenabled = 'O') AS has_enable_triggers,
    (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned,
    (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid=rel.oid LIMIT 1) as is_inherits,
    (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhparent=rel.oid LIMIT 1) as is_inherited,
    des.description
FROM pg_catalog.pg_class rel
    LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid=rel.oid AND des.objsubid=0 AND des.classoid='pg_class'::regclass)
    WHERE rel.relkind IN ('r','s','t','p') AND rel.relnamespace = 2200::oid
    AND NOT rel.relispartition
    ORDER BY rel.relname;

-- from: pgAdmin, number of tables: pgadmin-org/pgadmin4, templates/tables/sql/default/count.sql
SELECT COUNT(*)
FROM pg_catalog.pg_class rel
    WHERE rel.relkind IN ('r','s','t','p') AND rel.relnamespace = 2200::oid
    AND NOT rel.relispartition;
