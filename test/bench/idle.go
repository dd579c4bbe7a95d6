package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// idling measures what clients that have done something, and then nothing, hold of Fugu's memory: the resident set of
// its process with and without them. The runtime's own slack, garbage that it has not yet given back, is in it.
func idling(ctx context.Context, pid int, through target, clients int, guests string) error {
	before, err := resident(pid)
	if err != nil {
		return err
	}
	conns := make([]*pgconn.PgConn, 0, clients)
	defer func() {
		for _, c := range conns {
			_ = c.Close(context.WithoutCancel(ctx))
		}
	}()
	for range clients {
		c, err := pgconn.Connect(ctx, through.dsn())
		if err != nil {
			return fmt.Errorf("client %d: %w", len(conns), err)
		}
		conns = append(conns, c)
		// One statement in either protocol, of more than a small buffer holds.
		r := c.ExecParams(ctx, "SELECT * FROM pgbench_accounts WHERE aid <= 200", nil, nil, nil, nil)
		if _, err := r.Close(); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "SELECT 1").ReadAll(); err != nil {
			return err
		}
	}
	// Fugu is left alone for a while, as it would be: what it holds once everything has been said.
	w := newTable(fmt.Sprintf("%d idle clients, %s", clients, guests), "after", "resident set, MiB", "KiB a client")
	w.row("0 s, no clients", figure(float64(before)/(1<<20)), "")
	for _, wait := range []time.Duration{0, 5 * time.Second, 10 * time.Second} {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		now, err := resident(pid)
		if err != nil {
			return err
		}
		w.row(wait.String(), figure(float64(now)/(1<<20)), figure(float64(now-before)/1024/float64(clients)))
	}
	return w.flush()
}

// resident is a process's resident set, in bytes.
func resident(pid int) (int64, error) { return memory(pid, "VmRSS") }

// peak is the largest that a process's resident set was since forgetPeak, in bytes.
func peak(pid int) (int64, error) { return memory(pid, "VmHWM") }

// forgetPeak has the largest resident set of this process counted from now on, without what was given back.
func forgetPeak() error {
	debug.FreeOSMemory()
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// memory is a line of a process's status, in bytes.
func memory(pid int, line string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`).FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("no %s in the status of process %d", line, pid)
	}
	kB, err := strconv.ParseInt(string(found[1]), 10, 64)
	return kB << 10, err
}
