#!/bin/bash
# The proxy has a user of its own, and a directory that nobody else reads. It is neither enabled nor started: there is
# no configuration yet, and after an upgrade whoever operates it chooses when (SIGUSR2 hands over without a gap).
set -euo pipefail
if [ "$1" = configure ]; then
  if ! getent passwd fugu > /dev/null; then
    useradd --system --user-group --home-dir /var/lib/fugu --no-create-home --shell /usr/sbin/nologin fugu
  fi
  install -d -o fugu -g fugu -m 0700 /var/lib/fugu
  if [ -d /run/systemd/system ]; then
    deb-systemd-helper update-state fugu.service > /dev/null || true
    systemctl --system daemon-reload > /dev/null || true
  fi
fi
