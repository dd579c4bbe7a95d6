#!/bin/bash
# What is in /var/lib/fugu stays, also when the package is purged, and with it the user who owns it: a ledger that is
# lost cannot be made again.
set -euo pipefail
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload > /dev/null || true
fi
if [ "$1" = purge ] && command -v deb-systemd-helper > /dev/null; then
  deb-systemd-helper purge fugu.service > /dev/null || true
fi
