#!/usr/bin/env bash
# Prints the address from which this machine's apt takes Debian's packages, of its release and not of the updates to it.
set -euo pipefail
. /etc/os-release
mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | awk -v release="$VERSION_CODENAME" '$1 == release { print $2; exit }')
[ -n "$mirror" ] || { echo "apt knows no source of Debian $VERSION_CODENAME: see sources.list(5)" >&2; exit 1; }
echo "${mirror%/}"
