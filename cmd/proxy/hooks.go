//go:build !fuguhooks

package main

import (
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fugu/admin"
	"fugu/ledger"
)

// planted is where a build for tests plants faults in the ledger.
func planted(l ledger.Ledger) ledger.Ledger { return l }

// pointed is where a build for tests has points at which it dies amid a reply; see internal/hook.
func pointed(l net.Listener) net.Listener { return l }

// overheard is where a build for tests listens to what the reader is told.
func overheard(dial pgconn.DialFunc) pgconn.DialFunc { return dial }

// gossiping is where a build for tests lets the metrics say what was overheard.
func gossiping(f admin.Figures) admin.Figures { return f }

// grantsEvery is how often a proxy looks whether guests can reach by now what they must not. It takes the server some
// tens of milliseconds.
func grantsEvery() time.Duration { return time.Minute }
