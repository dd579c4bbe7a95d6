#!/bin/bash
# The service ends with its program; an upgrade leaves it running.
set -euo pipefail
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop fugu.service > /dev/null || true
fi
