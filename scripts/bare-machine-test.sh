#!/usr/bin/env bash
# Makes a minimal Debian with only Go, git and make, and runs a command of this repository in it, as if on a new machine:
#
#   sudo scripts/bare-machine-test.sh DIRECTORY [COMMAND...]        (COMMAND: make test)
#
# Needs debootstrap and this machine's Go. DIRECTORY is kept: remove it for a fresh machine, or see what is left in it.
# The machine gets this machine's apt sources, a copy of the working tree in /src, and this user's module cache read-only
# as a module proxy, so that the network is only needed for Debian's packages. RUN_AS=user runs the command as that user,
# who is made if need be, after "scripts/setup.sh server test" as root.
set -euo pipefail
cd "$(dirname "$0")/.."

root=${1:?usage: scripts/bare-machine-test.sh DIRECTORY [COMMAND...]}
shift
[ $# -gt 0 ] || set -- make test
[ "$(id -u)" = 0 ] || { echo "root is needed" >&2; exit 1; }

if ! [ -e "$root/ready" ]; then
  debootstrap --variant=minbase --include=make,git,ca-certificates bookworm "$root" "${DEBIAN_MIRROR:-$(scripts/debian-mirror.sh)}"
  rm -f "$root/etc/apt/sources.list"
  cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$root/etc/apt/"
  mkdir -p "$root/usr/local/go" "$root/src" "$root/proxy"
  cp -a "$(go env GOROOT)/." "$root/usr/local/go/"
  touch "$root/ready"
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/"

mounted=()
unmount() { for m in "${mounted[@]}"; do umount -l "$m"; done; }
trap unmount EXIT
put() { # TYPE SOURCE TARGET OPTIONS
  mkdir -p "$root/$3"
  mount -t "$1" -o "$4" "$2" "$root/$3"
  mounted=("$root/$3" "${mounted[@]}")
}
put proc proc proc nosuid
put none /dev dev bind
put tmpfs tmpfs dev/shm nosuid
put none "$(go env GOMODCACHE)/cache/download" proxy bind,ro

# A clone with the working tree's changes, so that what is ignored does not come along.
rm -rf "$root/src"
git clone -q --no-hardlinks . "$root/src"
git ls-files -z --cached --others --exclude-standard --deduplicate | tar -c --null -T - --ignore-failed-read 2>/dev/null | tar -x -C "$root/src"

environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C CI=true
  GOPROXY=file:///proxy GOSUMDB=off GOFLAGS=-buildvcs=false GOTOOLCHAIN=local)
for v in http_proxy https_proxy no_proxy; do [ -z "${!v-}" ] || environment+=("$v=${!v}"); done
in_machine() { chroot "$@" </dev/null; }

if [ -n "${RUN_AS-}" ]; then
  in_machine "$root" env -i "${environment[@]}" bash -c 'cd /src && scripts/setup.sh server test'
  in_machine "$root" id "$RUN_AS" >/dev/null 2>&1 || in_machine "$root" useradd -m "$RUN_AS"
  in_machine "$root" chown -R "$RUN_AS" /src
  in_machine --userspec="$RUN_AS" "$root" env -i "${environment[@]}" HOME="/home/$RUN_AS" bash -c 'cd /src && "$@"' bash "$@"
else
  in_machine "$root" env -i "${environment[@]}" bash -c 'cd /src && "$@"' bash "$@"
fi
left=$(for p in /proc/[0-9]*; do [ "$(readlink "$p/root")" != "$(realpath "$root")" ] || tr '\0' ' ' <"$p/cmdline"; done 2>/dev/null)
[ -z "$left" ] || { echo "left running: $left" >&2; exit 1; }
