#!/usr/bin/env bash
# Installs what building, running and testing Fugu needs on Debian, and only what is missing:
#
#   scripts/setup.sh                 a C compiler (the SQL parser is C)
#   scripts/setup.sh server          and a PostgreSQL server, for the demo and the tests
#   scripts/setup.sh server test     and the client libraries that the tests talk through: psycopg2, psycopg, node-postgres
#   scripts/setup.sh server peers    and PgBouncer, to measure Fugu beside it
#   scripts/setup.sh browser         and a Chromium, with a font, for tests that look at pages as people do
#   scripts/setup.sh server compat   and every client that make compat runs, and what PostgreSQL's own tests are compiled with
#
# Go has to be there already; it is not installed, only checked. No PostgreSQL cluster of the system is created,
# changed or started: the tests make their own, in temporary directories. When nothing is missing, nothing is run.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

check_go() {
  command -v go >/dev/null || PATH="$PATH:/usr/local/go/bin"
  command -v go >/dev/null || die "Go is not installed: see https://go.dev/doc/install"
  local want have
  want=$(awk '$1 == "go" { print $2; exit }' go.mod)
  # Inside the module, a Go command that may do so fetches the version that go.mod asks for; else it fails here.
  have=$(go env GOVERSION 2>&1) || die "Go $want or newer is needed, see https://go.dev/doc/install: $have"
  have=${have#go}
  [ "$(printf '%s\n' "$want" "${have%% *}" | sort -V | head -n 1)" = "$want" ] ||
    die "Go $want or newer is needed, and $(command -v go) is $have: see https://go.dev/doc/install"
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

has_server() {
  local d
  command -v initdb >/dev/null && return
  for d in /usr/lib/postgresql/*/bin; do [ -x "$d/initdb" ] && [ -x "$d/postgres" ] && return; done
  return 1
}

# has_node_pg looks where Debian's node-pg is, and where node_pg_from_npm puts it.
node_dir="${XDG_CACHE_HOME:-$HOME/.cache}/fugu/node"
has_node_pg() {
  command -v node >/dev/null && NODE_PATH="/usr/share/nodejs:$node_dir/node_modules" node -e 'require("pg")' 2>/dev/null
}

# A Node.js that is not Debian's keeps apt from installing Debian's node-pg.
node_pg_from_npm() {
  command -v npm >/dev/null || die "node-pg cannot be installed beside this Node.js, and there is no npm"
  say "installing pg with npm into $node_dir"
  mkdir -p "$node_dir"
  npm install --silent --prefix "$node_dir" --no-save --no-audit --no-fund --ignore-scripts pg@8.8.0 </dev/null >/dev/null
}

# The clients that Debian has, and for PostgreSQL's own tests the headers and the unpacker of its source.
compat_packages=(
  python3-psycopg2 python3-psycopg python3-asyncpg python3-pg8000 python3-sqlalchemy python3-django pgcli
  python3-pyodbc unixodbc odbc-postgresql libpostgresql-jdbc-java libdbd-pg-perl ruby ruby-pg libpq-dev bzip2
  python3-pandas r-cran-rpostgresql php-cli php-cgi php-pgsql adminer chromium
)

# compat_npm installs the clients that npm has, in these versions.
compat_npm() {
  local dir="${XDG_CACHE_HOME:-$HOME/.cache}/fugu/compat" want=(
    pg@8.23.1 pg-cursor@2.22.0 postgres@3.4.9 # and for the recipes:
    sequelize@6.37.8 typeorm@0.3.28 knex@3.3.0 drizzle-orm@0.45.2 puppeteer-core@24.40.0
  )
  [ "$(cat "$dir/installed" 2>/dev/null)" != "${want[*]}" ] || return 0
  say "installing ${want[*]} with npm into $dir"
  mkdir -p "$dir"
  npm install --silent --prefix "$dir" --no-save --no-audit --no-fund --ignore-scripts "${want[@]}" </dev/null >/dev/null
  echo "${want[*]}" >"$dir/installed"
}

# as_root runs a command as root, without ever asking for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    local keep=() v
    for v in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do [ -z "${!v-}" ] || keep+=("$v=${!v}"); done
    sudo -n env DEBIAN_FRONTEND=noninteractive "${keep[@]}" "$@"
  fi </dev/null
}

# apt is apt-get, and silent unless it fails.
apt() {
  local log
  log=$(as_root apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Options::=--force-confold "$@" 2>&1) ||
    die "apt-get $1 failed: $log"
}

# guard writes a file that keeps packages from starting services or creating a cluster; it is removed when the script ends.
guarded=()
guard() { # FILE MODE CONTENT
  [ ! -e "$1" ] || return 0
  as_root mkdir -p "$(dirname "$1")"
  as_root sh -c "printf '%b' '$3' > '$1' && chmod $2 '$1'"
  guarded+=("$1")
}
unguard() { [ ${#guarded[@]} = 0 ] || as_root rm -f "${guarded[@]}"; }
trap unguard EXIT

install_packages() {
  command -v apt-get >/dev/null || die "please install: $*"
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null ||
    die "root is needed to install packages; run: sudo apt-get update && sudo apt-get install $*"
  say "installing $*"
  guard /usr/sbin/policy-rc.d 755 '#!/bin/sh\nexit 101\n'
  guard /etc/postgresql-common/createcluster.d/fugu-setup.conf 644 'create_main_cluster = false\n'
  apt update
  apt install -y --no-install-recommends "$@"
}

can_install() { command -v apt-get >/dev/null && apt-get install -s --no-install-recommends "$@" >/dev/null 2>&1; }

want_server=false want_test=false want_peers=false want_compat=false want_browser=false
for group in "$@"; do
  case $group in
  server) want_server=true ;;
  test) want_test=true ;;
  peers) want_peers=true ;;
  compat) want_compat=true ;;
  browser) want_browser=true ;;
  *) die "unknown group $group: there are server, test, peers, compat and browser" ;;
  esac
done

check_go
missing=()
if ! command -v gcc >/dev/null || ! [ -e /usr/include/stdlib.h ]; then missing+=(gcc libc6-dev); fi
if $want_server; then
  has_server || missing+=(postgresql)
  command -v psql >/dev/null || missing+=(postgresql-client)
fi
if $want_test; then
  for package in python3-psycopg2 python3-psycopg; do installed $package || missing+=("$package"); done
  command -v node >/dev/null || missing+=(nodejs)
fi
if $want_peers && ! installed pgbouncer; then missing+=(pgbouncer); fi
if $want_browser && ! command -v chromium >/dev/null && ! command -v google-chrome >/dev/null; then
  missing+=(chromium fonts-liberation)
fi
if $want_compat; then
  for package in "${compat_packages[@]}"; do installed "$package" || missing+=("$package"); done
  command -v javac >/dev/null || missing+=(default-jdk-headless)
  command -v npm >/dev/null || missing+=(nodejs npm)
fi
[ ${#missing[@]} = 0 ] || install_packages "${missing[@]}"
if $want_compat; then compat_npm; fi
if $want_test && ! has_node_pg; then
  if can_install node-pg; then install_packages node-pg; else node_pg_from_npm; fi
  has_node_pg || die "node cannot load pg"
fi
