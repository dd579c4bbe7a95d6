package admin

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Check is something that has to work for a proxy to be of use.
type Check struct {
	Name  string
	Probe func(context.Context) error // nil: it works
}

// Health is what is known of whether a proxy can answer. Checks are made at times of their own, and not when somebody
// asks: so asking costs nothing, and how long it takes says nothing about what the proxy is at.
type Health struct {
	checks []Check
	log    *slog.Logger

	mu      sync.Mutex
	failing map[string]error  // by check; nil: it works
	reloads map[string]reload // by what was loaded again
	leaving bool
}

// reload is how the last one ended.
type reload struct {
	at  time.Time
	err error
}

// Reload says how something was loaded for the last time.
type Reload struct {
	What string
	At   time.Time
	OK   bool
}

// The checks are made once each ProbeEvery, and one of them takes no longer than probeTime.
const (
	ProbeEvery = 5 * time.Second
	probeTime  = 4 * time.Second
)

// NewHealth returns the health of a proxy that has just been put together, so that all checks are taken to succeed.
func NewHealth(log *slog.Logger, checks ...Check) *Health {
	h := &Health{checks: checks, log: log, failing: map[string]error{}, reloads: map[string]reload{}}
	for _, c := range checks {
		h.failing[c.Name] = nil
	}
	return h
}

// Probe makes each check once, and logs those that have another end than before.
func (h *Health) Probe(ctx context.Context) {
	for _, c := range h.checks {
		bounded, stop := context.WithTimeout(ctx, probeTime)
		err := c.Probe(bounded)
		stop()
		if ctx.Err() != nil {
			return // it is the proxy that ends
		}

		// What is said in the log is what has changed: a check that goes on failing is said once.
		h.mu.Lock()
		before := h.failing[c.Name]
		h.failing[c.Name] = err
		h.mu.Unlock()
		switch {
		case err != nil && before == nil:
			h.log.Error("a check of readiness fails", "check", c.Name, "error", err)
		case err == nil && before != nil:
			h.log.Info("a check of readiness succeeds again", "check", c.Name)
		}
	}
}

// Loaded takes note of how something was loaded: policies, say. After an error what was loaded before stands.
func (h *Health) Loaded(what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reloads[what] = reload{time.Now(), err}
}

// Leave says that the proxy takes no more clients.
func (h *Health) Leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaving = true
}

// Leaving reports whether the proxy takes no more clients.
func (h *Health) Leaving() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.leaving
}

// State returns which checks succeed, by name, and how everything was loaded, in the order of names.
func (h *Health) State() (up map[string]bool, loaded []Reload) {
	h.mu.Lock()
	defer h.mu.Unlock()
	up = map[string]bool{}
	for name, err := range h.failing {
		up[name] = err == nil
	}
	for _, what := range slices.Sorted(maps.Keys(h.reloads)) {
		loaded = append(loaded, Reload{what, h.reloads[what].at, h.reloads[what].err == nil})
	}
	return up, loaded
}

// page is what /readyz shows. Why something failed may name files and hosts, so only an operator is told. A reload that
// failed does not make the proxy less ready: what it had before stands.
func (h *Health) page(operator bool) (status int, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()

	// A check that fails makes the whole not ready; all of them are listed in any case.
	status, head := http.StatusOK, "ready\n"
	var b strings.Builder

	line := func(what, ok string, err error, failed string) {
		switch {
		case err == nil:
			fmt.Fprintf(&b, "ok      %s%s\n", what, ok)
		case operator:
			fmt.Fprintf(&b, "failed  %s%s: %s\n", what, failed, strings.ReplaceAll(err.Error(), "\n", "\n        "))
		default:
			fmt.Fprintf(&b, "failed  %s%s\n", what, failed)
		}
	}

	for _, c := range h.checks {
		err := h.failing[c.Name]
		if err != nil {
			status, head = http.StatusServiceUnavailable, "not ready\n"
		}
		line(c.Name, "", err, "")
	}
	for _, what := range slices.Sorted(maps.Keys(h.reloads)) {
		r := h.reloads[what]
		at := r.at.UTC().Format(time.RFC3339)
		line(what, ": loaded "+at, r.err, ": not loaded "+at+", what was loaded before stands")
	}
	if h.leaving {
		status, head = http.StatusServiceUnavailable, "not ready: it takes no more clients\n"
	}
	return status, head + b.String()
}
