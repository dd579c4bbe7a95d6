#!/usr/bin/env bash
# Creates the example's tables and roles in the database that the PG* variables name and loads them, with generated
# people, or with those of a CSV file that has the columns of the Adult census data set and a header:
#
#   PGHOST=... PGDATABASE=adult examples/adult/load.sh [file.csv]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
load=(psql -X -q -1 -v ON_ERROR_STOP=1 -f "$here/schema.sql")
if [ $# = 0 ]; then
  "${load[@]}" -f "$here/generate.sql" -f "$here/split.sql"
else
  "${load[@]}" -c 'CREATE TEMP TABLE census (LIKE adult)' \
    -c "\\copy census FROM pstdin (FORMAT csv, HEADER, NULL '?')" -f "$here/split.sql" <"$1"
fi
