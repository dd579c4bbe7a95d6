#!/usr/bin/env bash
# Makes the Debian package build/fugu_VERSION_ARCH.deb, the same bytes from the same source with the same compiler.
#   scripts/package.sh [VERSION]      without one: that of git, as Debian orders versions
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
described=$(git describe --tags --always 2> /dev/null || echo unknown)
version=${1:-0~$described}
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.41.1

# Every time in the package is that of the commit, or what the caller says.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH

out=build/package
rm -rf "$out"
mkdir -p "$out"
CGO_ENABLED=1 go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.release=$version" -o "$out/fugu" \
  ./cmd/proxy

# Manual page, completions and schemas come from the program itself.
"$out/fugu" man | gzip -n -9 > "$out/fugu.1.gz"
"$out/fugu" completion bash > "$out/fugu.bash"
"$out/fugu" completion zsh > "$out/_fugu"
"$out/fugu" completion fish > "$out/fugu.fish"
"$out/fugu" schema policy > "$out/policy.schema.json"
"$out/fugu" schema config > "$out/config.schema.json"

PACKAGE_VERSION=$version PACKAGE_ARCH=$(go env GOARCH)
export PACKAGE_VERSION PACKAGE_ARCH
file=build/fugu_${version}_$PACKAGE_ARCH.deb
go run "$nfpm" package --config packaging/nfpm.yaml --packager deb --target "$file"
sha256sum "$file"
