#!/bin/sh
# psql: scripts, \copy, \d, \gset, variables, a cursor of FETCH_COUNT, savepoints by ON_ERROR_ROLLBACK, PREPARE.
set -e
run() { psql -X -q -v VERBOSITY=verbose -v SHOW_CONTEXT=never "$@" 2>&1; }

case $1 in
version) psql --version ;;
crud)
  run -A -t <<'SQL' | sed '/^LOCATION:/d'
BEGIN;
INSERT INTO item VALUES (1, 'Käse "alt"', 12.50, 0.1, true, '2024-02-29 12:00+01', '2024-02-29', '\x00ff', '{a,"b c",NULL}'), (2, 'nothing', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
UPDATE item SET price = price * 2 WHERE id = 1 RETURNING id, price;
SAVEPOINT s;
INSERT INTO item (id, name) VALUES (1, 'again');
ROLLBACK TO s;
COMMIT;
\set id 1
\set name 'Käse "alt"'
SELECT * FROM item WHERE id = :id AND name = :'name';
SELECT count(*) AS n FROM item \gset
\echo :n rows
\copy item (id, name) FROM stdin
3	from a copy
4	two\twords
\.
\copy (SELECT id, name FROM item ORDER BY id) TO stdout
PREPARE p (int) AS SELECT name FROM item WHERE id = $1;
EXECUTE p(3);
\set FETCH_COUNT 2
SELECT id, name FROM item ORDER BY id;
\set FETCH_COUNT 0
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT 1/0;
SELECT 'still in the transaction';
ROLLBACK;
\d item
DELETE FROM item WHERE id > 2 \; SELECT count(*) FROM item;
SELECT nosuch FROM item;
SQL
  ;;
dashboard)
  # The values for the dashboard, as literals, and by PREPARE.
  run -A -t -F '	' -v mode=literal <<'SQL'
SELECT 'dashboard', :'mode', 'by_sex', sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex;
SELECT 'dashboard', :'mode', 'by_education', education, count(*) FROM adult WHERE sex = 'Female' AND age > 20 GROUP BY education ORDER BY education;
\set FETCH_COUNT 5
SELECT 'dashboard', 'cursor', 'by_education', education, count(*) FROM adult WHERE sex = 'Female' AND age > 20 GROUP BY education ORDER BY education;
\set FETCH_COUNT 0
SELECT 'dashboard', :'mode', 'totals', sum(hours_per_week), avg(capital_gain)::float8 FROM adult WHERE education = 'Bachelors';
PREPARE p (text, int) AS SELECT 'dashboard', 'prepared', 'by_education', education, count(*) FROM adult WHERE sex = $1 AND age > $2 GROUP BY education ORDER BY education;
EXECUTE p('Female', 20);
\copy (SELECT 'dashboard', 'copy', 'by_sex', sex, count(*), avg(age) FROM adult GROUP BY sex ORDER BY sex) TO stdout
SQL
  ;;
esac
