#!/bin/sh
# The service ends with its program; an upgrade leaves it running.
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop fugu.service > /dev/null || true
fi
