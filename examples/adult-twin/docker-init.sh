#!/usr/bin/env bash
# Fills the database twin-db of docker-compose.yml: the postgres image runs it once, over the Unix socket, as superuser.
set -euo pipefail
export PGUSER="${POSTGRES_USER:-postgres}" PGDATABASE="$POSTGRES_DB"
/examples/adult-twin/load.sh
psql -X -q -v ON_ERROR_STOP=1 \
  -v guest="$GUEST_PASSWORD" -v reader="$READER_PASSWORD" -v keeper="$KEEPER_PASSWORD" <<'SQL'
ALTER ROLE fugu_guest PASSWORD :'guest';
ALTER ROLE fugu_reader PASSWORD :'reader';
ALTER ROLE fugu_keeper PASSWORD :'keeper';
SQL
