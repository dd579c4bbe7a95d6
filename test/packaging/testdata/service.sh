#!/usr/bin/env bash
# The life of fugu.service under systemd, in the machine of machine.sh: started, reloaded, handed over, killed, stopped.
#
#   service.sh PACKAGE GUEST READER PORT ADMIN
#
# The first address is the guest's, the second one the reader's, in a database that has the tables of examples/adult.
set -euxo pipefail
port=$4
notes=$(mktemp -d)
trap 'journalctl --no-pager --unit fugu --output cat' EXIT

# As an operator configures it: the example, with what is different here in the environment.
dpkg -i "$1"
cp /usr/share/doc/fugu/examples/adult/* /var/lib/fugu/
cat >> /etc/default/fugu << DEFAULTS
FUGU_UPSTREAM_GUEST=$2
FUGU_UPSTREAM_READER=$3
FUGU_LISTEN=127.0.0.1:$port
FUGU_ADMIN=127.0.0.1:$5
DEFAULTS
systemctl daemon-reload

ask() { PGPASSWORD=alice-demo psql -XAtq -h 127.0.0.1 -p "$port" -U alice adult "$@"; }
main() { systemctl show --property MainPID --value fugu; }
until_true() {
  { set +x; } 2> /dev/null
  for _ in $(seq 300); do if "$@" > /dev/null; then set -x; return; fi; sleep 0.1; done
  echo "never: $*"
  return 1
}

# It is started when it takes clients, not before, and has answers of the protected table.
systemctl start fugu
first=$(main)
test "$(ask -c 'SELECT 1')" = 1
counts=$(ask -c 'SET fugu.notices = off' -c 'SELECT sex, count(*) FROM adult GROUP BY sex ORDER BY sex')
test "$(wc -l <<< "$counts")" = 2

# Clients come and go all the time from here on, and one stays.
come_and_go() {
  set +x
  while ! test -e "$notes/enough"; do
    ask -c 'SELECT 1' > /dev/null || echo failed >> "$notes/failed"
    echo >> "$notes/asked"
  done
}
come_and_go &
mkfifo "$notes/typed"
ask < "$notes/typed" > "$notes/told" &
staying=$!
exec 5> "$notes/typed"
echo 'SELECT 10;' >&5
until_true grep -q 10 "$notes/told"

# A reload is the same process. One that fails is logged, and what was in force stays.
logged() { journalctl --unit fugu --output cat | grep -q "$1"; }
systemctl reload fugu
until_true logged 'policy reloaded'
sed -i.good 's/^dataset:/datazet:/' /var/lib/fugu/adult.policy.yaml
systemctl reload fugu
until_true logged 'the old one stands.*datazet'
mv /var/lib/fugu/adult.policy.yaml.good /var/lib/fugu/adult.policy.yaml
test "$(main)" = "$first"
systemctl is-active fugu

# A successor that does not come up changes nothing.
mv /usr/bin/fugu /usr/bin/fugu.good
printf '#!/bin/sh\necho this version does not start >&2\nexit 1\n' > /usr/bin/fugu
chmod 755 /usr/bin/fugu
systemctl kill --signal USR2 --kill-who main fugu
until_true logged 'there is no successor'
test "$(main)" = "$first"
mv /usr/bin/fugu.good /usr/bin/fugu

# One that does is the main process. Who was there stays with the process before, which ends with its last client.
has_successor() { test "$(main)" != "$first"; }
systemctl kill --signal USR2 --kill-who main fugu
until_true has_successor
second=$(main)
systemctl is-active fugu
test -e "/proc/$first"
echo 'SELECT 20;' >&5
until_true grep -q 20 "$notes/told"
exec 5>&-
wait $staying
until_true test ! -e "/proc/$first"
test "$(ask -c 'SET fugu.notices = off' -c 'SELECT sex, count(*) FROM adult GROUP BY sex ORDER BY sex')" = "$counts"
until_true curl -sf "http://127.0.0.1:$5/readyz"

# Nobody was turned away by all that.
asked_often() { test "$(wc -l < "$notes/asked")" -gt "$1"; }
until_true asked_often $(($(wc -l < "$notes/asked") + 10))
touch "$notes/enough"
wait
test ! -e "$notes/failed"

# systemd sees the end of a process that it did not start itself, and makes a new one.
is_another() { test "$(main)" != 0 && test "$(main)" != "$1" && systemctl -q is-active fugu; }
kill -KILL "$second"
until_true is_another "$second"
third=$(main)
test "$(ask -c 'SELECT 1')" = 1
test "$(systemctl show --property NRestarts --value fugu)" = 1

# So it does where a successor fails while the process before still has clients: that one ends, too.
ask < "$notes/typed" > "$notes/told" 2>&1 &
exec 5> "$notes/typed"
echo 'SELECT 30;' >&5
until_true grep -q 30 "$notes/told"
systemctl kill --signal USR2 --kill-who main fugu
until_true is_another "$third"
test -e "/proc/$third"
fourth=$(main)
kill -KILL "$fourth"
until_true test ! -e "/proc/$third"
until_true is_another "$fourth"
exec 5>&-
wait
last=$(main)
test "$(ask -c 'SELECT 1')" = 1
test "$(systemctl show --property NRestarts --value fugu)" = 2

# It ends well, of itself, and has kept its books.
systemctl stop fugu
test "$(systemctl show --property Result --value fugu)" = success
test "$(systemctl show --property ExecMainStatus --value fugu)" = 0
test ! -e "/proc/$last"
logged 'msg=stopped'
cd /var/lib/fugu
sed -n 's/^FUGU_/export FUGU_/p' /etc/default/fugu > "$notes/environment"
. "$notes/environment"
fugu audit verify -c fugu.yaml

# What is wrong with its configuration is in its log, and it is not tried for ever.
rm users.txt
! systemctl start fugu
until_true logged 'fugu user add'
systemctl stop fugu
echo the service lives
