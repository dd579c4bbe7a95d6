// Package packaging checks the Debian package: what it is made from, always; and by night, or by make package-test, the
// package itself: that it is the same bytes twice, installs, lives under systemd, and goes.
package packaging
