#!/bin/sh
# pgbench: -i (DROP, CREATE, COPY, VACUUM, keys), its own script in the three modes, and a dashboard of each mode.
set -e
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

case $1 in
version) pgbench --version ;;
crud)
  pgbench -i -s 1 -q 2>&1 | sed 's/done in .*/done/; s/elapsed .*//'
  for mode in simple extended prepared; do
    pgbench -n -M "$mode" -c 3 -j 2 -t 50 --random-seed 7 2>&1 | grep -E 'actually processed|failed|error|abort' || true
    pgbench -n -M "$mode" -S -c 3 -j 2 -t 50 2>&1 | grep -E 'actually processed|failed|error|abort' || true
    psql -X -A -t -c "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history),
      (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) FROM pgbench_branches), (SELECT count(*) FROM pgbench_history)"
  done
  pgbench -i -I d -q 2>&1 | sed 's/done in .*/done/'
  ;;
dashboard)
  # \aset and \gset take values; \shell says them.
  cat >dashboard.sql <<'SQL'
\set age 20
SELECT count(*) FILTER (WHERE sex = 'Female') AS f, count(*) FILTER (WHERE sex = 'Male') AS m FROM (SELECT sex FROM adult) AS a \gset
SELECT sum(hours_per_week) AS hours, avg(capital_gain)::float8 AS gain FROM adult WHERE education = 'Bachelors' \gset
\shell echo dashboard MODE totals :hours :gain
SQL
  for mode in simple extended prepared; do
    sed "s/MODE/$mode/; /FILTER/d; /age/d" dashboard.sql >"$mode.sql"
    pgbench -n -M "$mode" -c 1 -t 2 -f "$mode.sql" 2>&1 | grep ^dashboard | tr ' ' '\t'
  done
  ;;
esac
