package setup

import "fmt"

// installing is what there is to do with the unit that fugu init writes.
const installing = `# cp fugu.service /etc/systemd/system/ && systemctl enable --now fugu
# The user has to be able to read the files of %[1]s, and to write the ledger there:
# useradd --system --no-create-home fugu && chown -R fugu %[1]s
`

// unit is the service for systemd: a proxy that can write nothing but its own directory, has no powers, and does not
// start before it is configured.
func unit(at Place) string {
	return fmt.Sprintf(`[Unit]
Description=Fugu, a PostgreSQL proxy that keeps global properties of a dataset secret
After=network-online.target postgresql.service
Wants=network-online.target
# Before there is a configuration, starting does nothing.
ConditionPathExists=%[1]s/fugu.yaml

[Service]
# It says when it takes clients, and which process is its successor: so a new version comes without a gap, by
# systemctl kill -s USR2 --kill-who=main fugu. It verifies the whole ledger before it is ready.
Type=notify
NotifyAccess=all
TimeoutStartSec=10min
User=fugu
WorkingDirectory=%[1]s
# FUGU_ variables, such as FUGU_LEDGER_KEY, and those of Go and OpenTelemetry.
EnvironmentFile=-/etc/default/fugu
ExecStart=%[2]s serve -c %[1]s/fugu.yaml
ExecReload=/bin/kill -HUP $MAINPID
TimeoutStopSec=30
Restart=on-failure
LimitNOFILE=65536
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
PrivateTmp=yes
PrivateDevices=yes
ProtectHome=read-only
ProtectSystem=strict
ReadWritePaths=%[1]s
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`, at.Directory, at.Binary)
}
