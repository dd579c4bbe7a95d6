#!/bin/sh
# The proxy has a user of its own, and a directory that nobody else reads.
set -e
if ! getent passwd fugu > /dev/null; then
  useradd --system --user-group --home-dir /var/lib/fugu --no-create-home --shell /usr/sbin/nologin fugu
fi
install -d -o fugu -g fugu -m 0700 /var/lib/fugu
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
