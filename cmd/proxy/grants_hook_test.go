//go:build fuguhooks

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"fugu/test/patient"
	"fugu/test/pgcluster"
)

// A right that is granted while a proxy serves ends it, as it would have kept it from starting. What is asked through a
// session meanwhile, and what was prepared before, has an end too. Rights on tables and views are seen by what the
// catalog says of these, whenever grants are looked at next.
func TestGrantsWhileServing(t *testing.T) {
	patient.Test(t)
	path := setting(t)
	c := pgcluster.Shared(t)
	for _, x := range []struct{ name, every, make, undo, says string }{
		{"a right", "1h", "GRANT SELECT ON adult TO fugu_guest", "REVOKE SELECT ON adult FROM fugu_guest",
			"the guest can read or change"},
		{"a membership", "50ms", "CREATE ROLE later; GRANT SELECT ON adult TO later; GRANT later TO fugu_guest",
			"DROP OWNED BY later; DROP ROLE later", "(as role later)"},
		{"a view", "1h", "CREATE VIEW later AS SELECT count(*) FROM adult WHERE income = '>50K'; " +
			"GRANT SELECT ON later TO fugu_guest", "DROP VIEW later", "which reads a protected table"},
		{"a function", "50ms", "CREATE FUNCTION later() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS " +
			"'SELECT count(*) FROM public.adult'", "DROP FUNCTION later", "the guest can call"},
	} {
		t.Run(x.name, func(t *testing.T) {
			proxy, err := startChild(t, path, grantsEnv+"="+x.every)
			if err != nil {
				t.Fatal(err)
			}
			conn := proxy.connect(t)
			if _, err := conn.Exec(t.Context(), "SELECT 1"); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Exec(context.Background(), "adult", x.undo); err != nil {
					t.Error(err)
				}
			}()
			if err := c.Exec(t.Context(), "adult", x.make); err != nil {
				t.Fatal(err)
			}

			ended := make(chan error, 1)
			go func() { ended <- proxy.Wait() }()
			select {
			case err := <-ended:
				if err == nil || proxy.ProcessState.ExitCode() != exitFailure {
					t.Errorf("the proxy ended with %v", err)
				}
			case <-time.After(patience):
				t.Fatal("the proxy goes on")
			}
			said := proxy.log.String()
			if !strings.Contains(said, x.says) || !strings.Contains(said, "this proxy ends") {
				t.Errorf("it said %s", said)
			}
			if _, err := conn.Exec(t.Context(), "SELECT 1"); err == nil {
				t.Error("its session goes on")
			}
			if _, err := startChild(t, path); err == nil || !strings.Contains(err.Error(), x.says) {
				t.Errorf("another one starts: %v", err)
			}
		})
	}
}
