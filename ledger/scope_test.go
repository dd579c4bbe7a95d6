package ledger

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"fugu/privacy"
)

func TestScopesAreToldApart(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "a", "@", "@a", "@@a", "a@"} {
		for kind, scope := range map[string]string{"user": UserScope(name), "group": GroupScope(name)} {
			if kind == "group" && (name == "" || name[0] == '@') || kind == "user" && name == "" {
				continue // no such names
			}
			if other, twice := seen[scope]; twice {
				t.Errorf("%s %q has the scope of %s", kind, name, other)
			}
			seen[scope] = fmt.Sprintf("%s %q", kind, name)
			if got, want := whose("d", scope), fmt.Sprintf("%s %q on dataset %q", kind, name, "d"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if scope == Everybody {
				t.Errorf("%s %q is everybody", kind, name)
			}
		}
	}
}

// The total stops users whose shares add up to more, however they take turns, and a share stops its user before that.
func TestTotalBindsSharesTogether(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		total := privacy.Budget{Epsilon: 1, Delta: 0.01}
		share := privacy.Budget{Epsilon: 0.75, Delta: 0.01}
		ask := func(l Ledger, n int, user string) error {
			_, err := l.Charge(context.Background(), with(charge(n), func(c *Charge) {
				c.User, c.Limit, c.Shares = user, total, []Share{{UserScope(user), share}}
			}))
			return err
		}
		l := p.open(t, Options{})
		given, stopped := collude(t, l, ask)
		if want := map[string]int{"alice": 3, "bob": 1}; !reflect.DeepEqual(given, want) {
			t.Errorf("given %v, want %v: four quarters in all", given, want)
		}
		if want := []string{"alice", Everybody}; !reflect.DeepEqual(stopped, want) {
			t.Errorf("stopped by %q, want %q", stopped, want)
		}
		if got := spent(t, l, Everybody); got[0].Loss.Pure != 1 || got[0].Releases != 4 {
			t.Errorf("in all %+v", got)
		}

		// Shares in place of the total, as they once were: together they have one and a half times as much.
		loose := p.open(t, Options{})
		given, _ = collude(t, loose, func(_ Ledger, n int, user string) error {
			_, err := loose.Charge(context.Background(), with(charge(fmt.Sprint("loose", n)), func(c *Charge) {
				c.Dataset, c.User, c.Limit, c.Shares = "loose", user, privacy.Budget{Epsilon: 1e9},
					[]Share{{UserScope(user), share}}
			}))
			return err
		})
		if given["alice"]+given["bob"] <= 4 {
			t.Errorf("without a total: %v; the test above shows nothing", given)
		}
	})
}

// collude has alice and then bob ask until each is stopped, and returns how many answers each got and whose limit
// stopped.
func collude(t *testing.T, l Ledger, ask func(Ledger, int, string) error) (given map[string]int, stopped []string) {
	t.Helper()
	given = map[string]int{}
	for i, user := range []string{"alice", "bob"} {
		for n := 0; ; n++ {
			err := ask(l, 100*i+n, user)
			var x *Exhausted
			if errors.As(err, &x) {
				stopped = append(stopped, x.Scope)
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if given[user]++; given[user] > 20 {
				t.Fatalf("nothing stops %s", user)
			}
		}
	}
	return given, stopped
}

// A group's members draw on its share together, each on their own as well, and whoever is refused has booked nothing
// anywhere.
func TestGroupShare(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		l := p.open(t, Options{})
		of := func(n any, user string, own, group privacy.Epsilon) Charge {
			return with(charge(n), func(c *Charge) {
				c.User, c.Limit.Epsilon = user, 5
				c.Shares = []Share{{UserScope(user), privacy.Budget{Epsilon: own}},
					{GroupScope("interns"), privacy.Budget{Epsilon: group}}}
			})
		}
		must(t, l, of(1, "carol", 1, .75))
		must(t, l, of(2, "dave", 1, .75))
		must(t, l, of(1, "dave", 1, .75)) // told before within the group: dave's own share pays, the group's does not
		must(t, l, of(3, "dave", .75, .75))
		var x *Exhausted
		if _, err := l.Charge(t.Context(), of(4, "carol", 1, .75)); !errors.As(err, &x) ||
			x.Scope != GroupScope("interns") {
			t.Errorf("the group's is spent: %v", err)
		}
		if _, err := l.Charge(t.Context(), of(5, "dave", .75, 2)); !errors.As(err, &x) || x.Scope != "dave" {
			t.Errorf("dave's is spent: %v", err)
		}
		for scope, want := range map[string]float64{Everybody: .75, "carol": .25, "dave": .75,
			GroupScope("interns"): .75} {
			if got := spent(t, l, scope); len(got) != 1 || got[0].Loss.Pure != want || got[0].Releases != int(want*4) {
				t.Errorf("%q: %+v, want %v", scope, got, want)
			}
		}
		if _, err := l.Audit(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

// Many at once, of two users through four handles: neither a share nor the total is overspent, and all of the total is.
func TestRaceForSharesAndTotal(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		ls := handles(t, p, 4)
		var mu sync.Mutex
		won := map[string]int{}
		together(func(i int) {
			user := []string{"alice", "bob"}[i%2]
			_, err := ls[i/2%len(ls)].Charge(context.Background(), with(charge(i), func(c *Charge) {
				c.User, c.Limit.Epsilon = user, 2 // eight of them; six for each user
				c.Shares = []Share{{user, privacy.Budget{Epsilon: 1.5}}}
			}))
			var x *Exhausted
			if err != nil && !errors.As(err, &x) {
				t.Errorf("%d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won[user]++
			}
		})
		if won["alice"]+won["bob"] != 8 || won["alice"] > 6 || won["bob"] > 6 {
			t.Errorf("given %v", won)
		}
		for scope, n := range map[string]int{Everybody: 8, "alice": won["alice"], "bob": won["bob"]} {
			if got := spent(t, ls[0], scope); len(got) != 1 || got[0].Releases != n ||
				got[0].Loss.Pure != float64(n)/4 {
				t.Errorf("%q: %+v, want %d", scope, got, n)
			}
		}
	})
}
