#!/usr/bin/env bash
# Boots a machine with systemd as its first process, which runs one script as a service of its own, and ends with it and
# with its exit status:
#
#   machine.sh DIRECTORY SCRIPT [ARGUMENT...]
#
# It is the machine on which this runs, but that whatever is written there is thrown away, that of all services it
# starts the journal alone, and that it can change neither clock nor kernel. The network is that of both. What the
# script writes is in the file log of DIRECTORY, which is empty before. Needs root.
set -euo pipefail
at=$1

# Each machine has a control group of its own, in whichever way this one has arranged its own.
if [ -z "${MACHINE_INSIDE-}" ]; then
  : > "$at/log"
  mkdir "$at/groups" "$at/machine"
  mount -t cgroup2 none "$at/groups"
  own=$at/groups/machine-$$
  mkdir "$own"
  trap 'find "$own" -depth -type d -exec rmdir {} +; umount "$at/groups"' EXIT
  (
    echo $BASHPID > "$own/cgroup.procs"
    MACHINE_INSIDE=1 exec unshare --mount --pid --fork --uts --ipc --cgroup --kill-child "$0" "$@"
  )
  exit
fi

shift
mount -t tmpfs none "$at/machine"
cd "$at/machine"
mkdir up work root
mount -t overlay none -o lowerdir=/,upperdir=up,workdir=work root
cd root
touch machine.log
mount --bind "$at/log" machine.log

# The file systems of a container, after systemd-nspawn(1): of the kernel's, nothing can be written but control groups.
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 none sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
mkdir dev/shm dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
touch dev/console

# No target wants anything, so that a service which is started brings none of this machine's along.
rm -rf etc/systemd/system/*.wants lib/systemd/system/*.wants lib/systemd/system/*.requires
: > etc/fstab
rm -f etc/machine-id
touch etc/machine-id
cp "$1" machine-script
chmod 755 machine-script
cat > etc/systemd/system/machine.service << UNIT
[Unit]
Requires=systemd-journald.service
After=systemd-journald.service
DefaultDependencies=no
SuccessAction=exit-force
FailureAction=exit-force
SuccessActionExitStatus=0

[Service]
Type=oneshot
Environment=PATH=$PATH
ExecStart=/machine-script$(printf ' "%s"' "${@:2}")
StandardOutput=append:/machine.log
StandardError=append:/machine.log
UNIT

exec setpriv --bounding-set -sys_time,-sys_module,-sys_boot,-sys_rawio,-net_admin,-mac_admin,-syslog,-audit_control,-audit_read \
  env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  chroot . /lib/systemd/systemd --unit=machine.service --log-target=journal --show-status=0
