package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

// Shares are limits below the budget, which binds everybody together whatever they are.
type Shares struct {
	Users   []BudgetShare // in the order of the file
	Groups  []BudgetShare // of each, what all members together are told
	Default *privacy.Budget
}

// BudgetShare is the limit on what one user, or one group's members together, are told.
type BudgetShare struct {
	Name    string
	Members []string // of a group, at least one
	Limit   privacy.Budget
}

// Share returns the limit that a user has alone, if any.
func (b Budget) Share(user string) (privacy.Budget, bool) {
	if b.Shares != nil {
		if i := slices.IndexFunc(b.Shares.Users, func(s BudgetShare) bool { return s.Name == user }); i >= 0 {
			return b.Shares.Users[i].Limit, true
		}
		if b.Shares.Default != nil {
			return *b.Shares.Default, true
		}
	}
	return privacy.Budget{Epsilon: b.Epsilon, Delta: b.Delta}, b.Per == PerUser
}

// Groups returns the groups of a user that have a share, in the order of their names.
func (b Budget) Groups(user string) (out []BudgetShare) {
	if b.Shares == nil {
		return nil
	}
	for _, g := range b.Shares.Groups {
		if slices.Contains(g.Members, user) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b BudgetShare) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

const shareHint = "write {epsilon: 5, delta: 0.001}"

// shares reads the limits below the budget of a policy whose analysts are already known.
func (p *Policy) shares(v *strictyaml.Value, statement, budget privacy.Budget) {
	if v == nil {
		return
	}
	f := v.Fields(keys["privacy.budget.shares"]...)
	out := &Shares{}
	limit := func(f strictyaml.Fields, path string) (b privacy.Budget, ok bool) {
		b, okE, okD := spend(f, "of the share")
		for _, c := range []struct {
			key                 string
			ok                  bool
			share, least, whole float64
		}{
			{"epsilon", okE, float64(b.Epsilon), float64(statement.Epsilon), float64(budget.Epsilon)},
			{"delta", okD, float64(b.Delta), float64(statement.Delta), float64(budget.Delta)},
		} {
			switch {
			case !c.ok:
			case c.share > c.whole:
				f.Get(c.key).Bad("write at most that: everybody together has no more", "%s.%s %v is above privacy.budget.%s %v", path, c.key, c.share, c.key, c.whole)
			case c.share < c.least:
				f.Get(c.key).Bad("write a share that pays for at least one statement", "%s.%s %v is below privacy.%s %v", path, c.key, c.share, c.key, c.least)
			}
		}
		return b, okE && okD
	}
	if d := f.Get("default"); d != nil {
		b, _ := limit(d.Fields(keys["privacy.budget.shares.default"]...), d.Path)
		out.Default = &b
	}
	users, _ := f.Get("users").Entries()
	for _, e := range users {
		b, _ := limit(e.Value.Fields(keys["privacy.budget.shares.users.*"]...), e.Value.Path)
		p.known(e.Value, e.Key)
		out.Users = append(out.Users, BudgetShare{Name: e.Key, Limit: b})
	}
	groups, _ := f.Get("groups").Entries()
	for _, e := range groups {
		g := e.Value.Fields(keys["privacy.budget.shares.groups.*"]...)
		s := BudgetShare{Name: e.Key}
		s.Limit, _ = limit(g, e.Value.Path)
		if !labelPattern.MatchString(e.Key) {
			e.Value.Bad("write "+labelRule, "a group cannot be named like this")
		}
		m := g.Need("members", "list the users who are in it")
		items, ok := m.List()
		if ok && len(items) == 0 {
			m.Bad("list the users who are in it", "%s is empty", m.Path)
		}
		for _, item := range items {
			user, ok := item.Text()
			if ok && slices.Contains(s.Members, user) {
				item.Bad("keep one of the two", "%s lists %s twice", m.Path, quoteIdent(user))
			} else if ok {
				p.known(item, user)
				s.Members = append(s.Members, user)
			}
		}
		out.Groups = append(out.Groups, s)
	}
	if out.Default == nil && len(users)+len(groups) == 0 {
		v.Bad("write default: "+shareHint[len("write "):]+", or leave shares out", "%s has no share in it", v.Path)
	}
	p.Privacy.Budget.Shares = out
}

// known reports a share of somebody who may not ask.
func (p *Policy) known(v *strictyaml.Value, user string) {
	if !p.MayAsk(user) {
		v.Bad("list the user under analysts, or leave the share out", "%s has a share and may not ask: analysts does not list it", quoteIdent(user))
	}
}

// Never is the renewal of a budget that is spent once.
const Never time.Duration = 0

var durationPattern = regexp.MustCompile(`^P([1-9][0-9]{0,3})([DW])$`)

const renewHint = "write renew: never, or a period of days or weeks: P30D, P13W"

// renewal reads how long a period is: whole days of 24 hours, or weeks of seven.
func renewal(v *strictyaml.Value) time.Duration {
	if v == nil || v.Is("never") {
		return Never
	}
	word, ok := v.Text()
	m := durationPattern.FindStringSubmatch(word)
	if ok && m == nil {
		v.Bad(renewHint, "%s cannot be read as a period", v.Path)
	}
	if m == nil {
		return Never
	}
	n, _ := strconv.Atoi(m[1]) // of at most four digits
	days := time.Duration(n)
	if m[2] == "W" {
		days *= 7
	}
	return days * 24 * time.Hour
}

// Renewal says what a budget that is renewed gives up; empty: it is never renewed.
func (b Budget) Renewal() string {
	if b.Renew == Never {
		return ""
	}
	const year = 365 * 24 * time.Hour
	k := int64((year + b.Renew - 1) / b.Renew)
	return fmt.Sprintf("budget.renew gives every period of %d days a budget of its own, but the secret does not renew with it: after k periods everything told is (k times %v, k times %v)-indistinguishable and no better; "+
		"after a year, of %d periods, epsilon %.4g at delta %.4g", b.Renew/(24*time.Hour), float64(b.Epsilon), float64(b.Delta), k, float64(k)*float64(b.Epsilon), min(1, float64(k)*float64(b.Delta)))
}
