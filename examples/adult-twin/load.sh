#!/usr/bin/env bash
# Creates the tables of examples/adult and its roles in the database adult of the server that the PG* variables name,
# fills them (load.sh [file.csv] as there), and adds the role that builds twins.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/../adult/load.sh" "$@"
psql -X -q -v ON_ERROR_STOP=1 -f "$here/adult-twin.sql"
