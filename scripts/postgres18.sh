#!/usr/bin/env bash
# Unpacks PostgreSQL 18 (server, programs, libpq and headers) from Debian's testing release into a directory of its
# own, with all the libraries that it needs, and prints the directory of its programs. Nothing is installed: no package
# of the system is touched, and no rights are needed.
#
#   PATH=$(scripts/postgres18.sh):$PATH go test ./wire
#
# The programs run with the libraries that came with them, the C library too, so they run on an older release of Debian.
# The directory is /var/cache/fugu/postgresql-18 for root, whose server runs as another user, and in the user's cache
# for others. It is made once; remove it to have the newest minor version again.
set -euo pipefail

mirror=$("${BASH_SOURCE%/*}/debian-mirror.sh")
major=18 suite=testing
if [ "$(id -u)" = 0 ]; then cache=/var/cache/fugu; else cache=${XDG_CACHE_HOME:-$HOME/.cache}/fugu; fi
root=$cache/postgresql-$major
bin=$root/usr/lib/postgresql/$major/bin
if [ -e "$root/complete" ]; then
  echo "$bin"
  exit
fi

mkdir -p "$cache"
work=$(mktemp -d "$cache/unpack-XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"

# apt with lists, cache and state of its own. It knows of no installed package, so it brings every dependency; it checks
# the signatures.
mkdir -p apt/lists/partial apt/archives/partial tree
: >apt/status
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >apt/sources
apt() {
  apt-get -qq -o "Dir::Etc::sourcelist=$work/apt/sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/apt/lists" \
    -o "Dir::State::status=$work/apt/status" -o "Dir::Cache::archives=$work/apt/archives" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache=" \
    -o "APT::Sandbox::User=$(id -un)" -o Debug::NoLocking=1 "$@" >&2
}
echo "postgres18: downloading PostgreSQL $major from Debian $suite" >&2
apt update
apt install -y --no-install-recommends --download-only "postgresql-$major" "postgresql-client-$major" libpq-dev
(cd apt/archives && apt download "postgresql-server-dev-$major") # for its headers; what it depends on is compilers
for package in apt/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C tree --no-same-owner --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*'
done

# Each program becomes a script that starts it with its own libraries. It finds its files by the name that it is started
# with, so they may lie anywhere.
loader=$(cd tree && echo usr/lib/*/ld-linux*.so.*)
libraries=${loader%/*}
programs=tree/usr/lib/postgresql/$major/bin
mkdir "$programs/real"
for program in "$programs"/*; do
  [ -f "$program" ] || continue
  name=${program##*/}
  mv "$program" "$programs/real/$name"
  printf '#!/bin/sh\nexec %q --library-path %q --argv0 %q %q "$@"\n' "$root/$loader" "$root/$libraries" "$bin/$name" "$bin/real/$name" >"$program"
  chmod 755 "$program"
done
touch tree/complete
rm -rf "$root"
mv tree "$root"
chmod 755 "$cache" "$root"
echo "$bin"
