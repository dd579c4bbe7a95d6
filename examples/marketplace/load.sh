#!/usr/bin/env bash
# Creates the example's tables and roles in the database that the PG* variables name, and fills the tables with made-up
# rows: 270,000 orders, or as many as you say (then write that number into the policy, too).
#
#   PGHOST=... PGDATABASE=marketplace examples/marketplace/load.sh [orders]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PGOPTIONS="${PGOPTIONS:-} -c marketplace.orders=${1:-270000}" \
  psql -X -q -1 -v ON_ERROR_STOP=1 -f "$here/schema.sql" -f "$here/roles.sql" \
  -f "$here/generate.sql"
