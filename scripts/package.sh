#!/usr/bin/env bash
# Makes the Debian package build/fugu_VERSION_ARCH.deb, a bill of materials of the program in it (CycloneDX), and
# SHA256SUMS of both: the same bytes from the same source with the same compilers, in whatever directory.
#   scripts/package.sh [VERSION]      without one: that of git, as Debian orders versions
# MAINTAINER is who Debian's tools name as such: 'Name <address>'. NFPM is the program that packs, if it is there already.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
described=$(git describe --tags --always 2> /dev/null || echo unknown)
version=${1:-0~$described}
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.41.1
export LC_ALL=C TZ=UTC MAINTAINER=${MAINTAINER:-Fugu authors <fugu@example.org>}

# Every time in the package is that of the commit, or what the caller says.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH

# What compiles C is told the same by everybody.
export CGO_CFLAGS='-O2 -g'
unset CGO_CPPFLAGS CGO_CXXFLAGS CGO_LDFLAGS GOAMD64 GOEXPERIMENT

out=build/package
rm -rf "$out"
mkdir -p "$out"
CGO_ENABLED=1 go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.release=$version" -o "$out/fugu" \
  ./cmd/proxy

# Manual page, completions and schemas come from the program itself, and so does what it is made of.
"$out/fugu" man | gzip -n -9 > "$out/fugu.1.gz"
"$out/fugu" completion bash > "$out/fugu.bash"
"$out/fugu" completion zsh > "$out/_fugu"
"$out/fugu" completion fish > "$out/fugu.fish"
"$out/fugu" schema policy > "$out/policy.schema.json"
"$out/fugu" schema config > "$out/config.schema.json"
go run ./internal/sbom "$out/fugu" > "$out/fugu.cdx.json"

# Debian's own form of a changelog, of which this release is all; what is new is in ours.
printf 'fugu (%s) unstable; urgency=medium\n\n  * See changelog.md.gz.\n\n -- %s  %s\n' \
  "$version" "$MAINTAINER" "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -n -9 > "$out/changelog.gz"
gzip -n -9 < CHANGELOG.md > "$out/changelog.md.gz"

# The C library is not in the program: the package needs one in which its newest symbol is.
PACKAGE_GLIBC=$(objdump -T "$out/fugu" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
PACKAGE_VERSION=$version PACKAGE_ARCH=$(go env GOARCH)
export PACKAGE_VERSION PACKAGE_ARCH PACKAGE_GLIBC
file=fugu_${version}_$PACKAGE_ARCH
if [ -z "${NFPM-}" ]; then pack=(go run "$nfpm"); else pack=("$NFPM"); fi
"${pack[@]}" package --config packaging/nfpm.yaml --packager deb --target "build/$file.deb"
cp "$out/fugu.cdx.json" "build/$file.cdx.json"
(cd build && sha256sum "$file.deb" "$file.cdx.json" | tee SHA256SUMS)
