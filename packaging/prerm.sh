#!/bin/sh
# The service ends with its program. What is in /var/lib/fugu stays: a ledger that is lost cannot be made again.
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now fugu.service || true
fi
