// Package nightly says how much of something a test does: by day as much as its claim needs, so that make test can be
// run for every change; by night, in make nightly, as much as finds what is rare. It decides amounts only: what a test
// claims, and which seeds it begins with, is the same at both times.
package nightly

import "os"

// Asked is the environment variable that has tests do as much as by night, whatever its value.
const Asked = "FUGU_NIGHTLY"

// Is reports whether it is night.
func Is() bool { return os.Getenv(Asked) != "" }

// Or is an amount: day in make test, night in make nightly.
func Or(night, day int) int {
	if Is() {
		return night
	}
	return day
}
