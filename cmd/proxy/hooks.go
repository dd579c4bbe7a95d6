//go:build !fuguhooks

package main

import (
	"net"

	"fugu/ledger"
)

// planted is where a build for tests plants faults in the ledger.
func planted(l ledger.Ledger) ledger.Ledger { return l }

// pointed is where a build for tests has points at which it dies amid a reply; see internal/hook.
func pointed(l net.Listener) net.Listener { return l }
