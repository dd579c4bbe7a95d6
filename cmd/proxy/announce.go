package main

import (
	"context"
	"strings"

	"fugu/policy"
)

// announce logs what is served and how, so that a log says by itself which proxy it is of.
func (s *served) announce() {
	c := s.house.config
	ledger := "none"
	switch {
	case c.Ledger.Postgres != "":
		ledger = "postgresql"
	case c.Ledger.SQLite != "":
		ledger = "sqlite:" + c.Ledger.SQLite
	}
	var databases []string
	for _, r := range s.house.rooms {
		databases = append(databases, r.database)
	}
	s.log.Info("fugu begins", "version", built().String(), "listen", s.listener.Addr().String(),
		"databases", strings.Join(databases, ", "), "datasets", datasets(s.house.policies), "auth", c.Auth.Method,
		"tls", c.TLS.Mode, "ledger", ledger, "reload", c.Reload)
}

// stopping logs, when ctx has ended, who is still there, and for how long.
func (s *served) stopping(ctx context.Context) {
	if ctx.Err() == nil {
		return
	}
	s.log.Info("told to stop: no more clients are taken, and sessions may end what they are at",
		"sessions", s.server.Counts().Sessions, "at_most", drainTimeout)
}

// datasets are the names of policies, in their order.
func datasets(policies []*policy.Policy) string {
	var names []string
	for _, p := range policies {
		names = append(names, p.Dataset)
	}
	return strings.Join(names, ", ")
}

// changes are what a reload has changed, as attributes of a line of the log: datasets that came, went, or have stored
// answers that end, since the policy says otherwise what affects them.
func changes(before, after []*policy.Policy) []any {
	var came, went, ended []*policy.Policy
	known := map[string]string{}
	for _, p := range before {
		known[p.Dataset] = p.Fingerprint
	}
	for _, p := range after {
		fingerprint, ok := known[p.Dataset]
		switch {
		case !ok:
			came = append(came, p)
		case fingerprint != p.Fingerprint:
			ended = append(ended, p)
		}
		delete(known, p.Dataset)
	}

	// What is still known has no successor.
	for _, p := range before {
		if _, ok := known[p.Dataset]; ok {
			went = append(went, p)
		}
	}

	out := []any{"datasets", datasets(after)}
	for _, x := range []struct {
		key  string
		list []*policy.Policy
	}{{"came", came}, {"went", went}, {"stored_answers_end", ended}} {
		if len(x.list) > 0 {
			out = append(out, x.key, datasets(x.list))
		}
	}
	return out
}
