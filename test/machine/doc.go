// Package machine checks what scripts/setup.sh says on a machine that lacks something. It installs nothing.
package machine
