package policy

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"fugu/internal/strictyaml"
	"fugu/privacy"
)

const shareHint = "write {epsilon: 5, delta: 0.001}"

// shares reads the limits below the budget of a policy whose analysts are already known.
func (p *Policy) shares(v *strictyaml.Value, statement, budget privacy.Budget) {
	if v == nil {
		return
	}
	f := v.Fields(keys["privacy.budget.shares"]...)
	out := &Shares{}

	if d := f.Get("default"); d != nil {
		b := shareLimit(d.Fields(keys["privacy.budget.shares.default"]...), d.Path, statement, budget)
		out.Default = &b
	}

	users, _ := f.Get("users").Entries()
	for _, e := range users {
		limit := shareLimit(e.Value.Fields(keys["privacy.budget.shares.users.*"]...), e.Value.Path, statement, budget)
		p.known(e.Value, e.Key)
		out.Users = append(out.Users, BudgetShare{Name: e.Key, Limit: limit})
	}

	// Who is in several groups is charged in the account of each.
	groups, _ := f.Get("groups").Entries()
	for _, e := range groups {
		out.Groups = append(out.Groups, p.group(e, statement, budget))
	}

	if out.Default == nil && len(users)+len(groups) == 0 {
		v.Bad("write default: "+shareHint[len("write "):]+", or leave shares out", "%s has no share in it", v.Path)
	}
	p.Privacy.Budget.Shares = out
}

// shareLimit reads the epsilon and delta of a share, which are at least those of a statement and at most those of all.
func shareLimit(f strictyaml.Fields, path string, statement, budget privacy.Budget) privacy.Budget {
	b := spend(f, "of the share")

	// What can never be spent, and what pays for nothing, is a mistake.
	for _, c := range []struct {
		key                 string
		ok                  bool
		share, least, whole float64
	}{
		{"epsilon", b.okEpsilon, float64(b.Epsilon), float64(statement.Epsilon), float64(budget.Epsilon)},
		{"delta", b.okDelta, float64(b.Delta), float64(statement.Delta), float64(budget.Delta)},
	} {
		switch {
		case !c.ok:
		case c.share > c.whole:
			f.Get(c.key).Bad("write at most that: everybody together has no more",
				"%s.%s %v is above privacy.budget.%s %v", path, c.key, c.share, c.key, c.whole)
		case c.share < c.least:
			f.Get(c.key).Bad("write a share that pays for at least one statement",
				"%s.%s %v is below privacy.%s %v", path, c.key, c.share, c.key, c.least)
		}
	}
	return b.Budget
}

// group reads the share of a group and who is in it.
func (p *Policy) group(e strictyaml.Entry, statement, budget privacy.Budget) BudgetShare {
	f := e.Value.Fields(keys["privacy.budget.shares.groups.*"]...)
	s := BudgetShare{Name: e.Key, Limit: shareLimit(f, e.Value.Path, statement, budget)}
	if !labelPattern.MatchString(e.Key) {
		e.Value.Bad("write "+labelRule, "a group cannot be named like this")
	}

	members := f.Need("members", "list the users who are in it")
	items, ok := members.List()
	if ok && len(items) == 0 {
		members.Bad("list the users who are in it", "%s is empty", members.Path)
	}

	// Who is in it has to be one of the policy's analysts, if it lists them.
	for _, item := range items {
		user, ok := item.Text()
		if ok && slices.Contains(s.Members, user) {
			item.Bad("keep one of the two", "%s lists %s twice", members.Path, quoteIdent(user))
		} else if ok {
			p.known(item, user)
			s.Members = append(s.Members, user)
		}
	}
	return s
}

// known reports a share of somebody who may not ask.
func (p *Policy) known(v *strictyaml.Value, user string) {
	if !p.MayAsk(user) {
		v.Bad("list the user under analysts, or leave the share out",
			"%s has a share and may not ask: analysts does not list it", quoteIdent(user))
	}
}

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
