//go:build fuguhooks

package corpus

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fugu/test/nightly"
)

// judge compares a unit's answer through Fugu with PostgreSQL's own, and returns its state: equal, or refused with a
// code and a message. An error means that neither is so.
func judge(ctx context.Context, fugu, postgres *side, u unit, m mode) (string, error) {
	want, err := postgres.run(ctx, u, m)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL itself: %w", err)
	}
	if want.err != nil && want.err.Code == "42883" && m == extendedInBinary { // the type has no binary form
		if got, err := fugu.run(ctx, u, m); err != nil || got.err == nil || got.err.Code != want.err.Code {
			return "", fmt.Errorf("%v %v, want %w", got, err, want.err)
		}
		return "equal", nil
	}
	if want.err != nil {
		return "", fmt.Errorf("PostgreSQL itself: %s %s", want.err.Code, want.err.Message)
	}
	got, err := fugu.run(ctx, u, m)
	if err != nil {
		return "", fmt.Errorf("the connection is lost: %w", err)
	}
	if e := got.err; e != nil {
		switch {
		case e.Code == "XX000" || e.Code == "PV002" || e.Code == "PV005" || e.Code[:2] == "08" || e.Code[:2] == "57":
			return "", fmt.Errorf("%s %s %s", e.Code, e.Message, e.Detail)
		}
		return "refused " + e.Code + ": " + e.Message, nil
	}
	if d := difference(want, got, u); d != "" {
		return "", fmt.Errorf("different: %s", d)
	}
	return "equal", nil
}

// modes are the ways in which a unit can be sent.
func (u unit) modes() []mode {
	switch {
	case u.psql():
		return nil
	case len(u.params) > 0:
		return []mode{extended, extendedInBinary}
	}
	return []mode{simple, extended, extendedInBinary}
}

// asked are the ways in which a unit is sent: all of them by night, and one by day, in turn. Each has to come to the
// state that the golden file has, so a difference between two ways shows in a unit or in its neighbour.
func (u unit) asked(i int) []mode {
	all := u.modes()
	if len(all) == 0 || nightly.Is() {
		return all
	}
	return all[i%len(all):][:1]
}

// Every statement of the corpus is answered as PostgreSQL answers it, or refused where the golden file says so, and the
// same in every way of sending it, psql's besides.
func TestAccept(t *testing.T) {
	f := start(t)
	fugu, superuser, guest := open(t, f.fugu()), open(t, f.postgres()), open(t, f.guest())
	names, units := corpus(t, "accept")
	total, sourced, remembered := 0, 0, 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			states := map[string]string{}
			for at, u := range units[name] {
				postgres := superuser
				if u.guest {
					postgres = guest
				}
				for i, m := range u.asked(at) {
					s, err := judge(t.Context(), fugu, postgres, u, m)
					s, why, _ := strings.Cut(s, ": ")
					if why != "" && i == 0 {
						t.Logf("%s %s: %s", u.name, s, why)
					}
					switch {
					case err != nil:
						t.Errorf("%s (%s):\n%s\n%v", u.name, m, u.text(), err)
						s = "failed"
					case i > 0 && s != states[u.name]:
						t.Errorf("%s (%s):\n%s\n%s, but %s otherwise", u.name, m, u.text(), s, states[u.name])
						s = "failed"
					}
					if i == 0 || s == "failed" {
						states[u.name] = s
					}
				}
			}
			runPsql(t, f, units[name], states)
			golden(t, "accept", name, units[name], states)
		})
		total += len(units[name])
		for _, u := range units[name] {
			if strings.HasPrefix(u.from, "memory of") {
				remembered++
			} else if u.tool() != "" {
				sourced++
			}
		}
	}
	t.Logf("%d statements: %d read or recorded of tools, %d remembered of tools", total, sourced, remembered)
	if total < 250 {
		t.Errorf("the corpus has %d statements", total)
	}
}
