package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"fugu/account"
	"fugu/ledger"
	"fugu/ledger/audit"
)

// budget shows what is left of every budget, or everything about one, or has a dataset's begin anew.
func budget(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON, user, limit := false, "", 20
	why := ledger.Why{Operator: login()}
	var asked *flag.FlagSet
	rest, path, err := words("budget", args, stderr, func(fs *flag.FlagSet) {
		asked = fs
		fs.BoolVar(&asJSON, "json", asJSON, "print JSON")
		fs.StringVar(&user, "user", user, "show the accounts of `name`, and what they asked; who resets is -operator")
		fs.IntVar(&limit, "n", limit, "show the last `number` of charges")
		whyFlags(fs, &why)
	})
	if err != nil {
		return err
	}

	// What is to be done stands behind the flags.
	switch {
	case len(rest) == 0 || len(rest) == 1 && rest[0] == "list":
		if err := takesOnly(asked, "budget", "user", "json"); err != nil {
			return err
		}
		return listBudgets(ctx, path, user, asJSON, stdout)
	case len(rest) == 2 && rest[0] == "show" && limit > 0:
		if err := takesOnly(asked, "budget show", "user", "n", "json"); err != nil {
			return err
		}
		return showBudget(ctx, path, rest[1], user, limit, asJSON, stdout)
	case len(rest) == 2 && rest[0] == "reset":
		if err := cmp.Or(takesOnly(asked, "budget reset", "reason", "operator", "json"), checkWhy(why)); err != nil {
			return err
		}
		return resetBudget(ctx, path, rest[1], why, asJSON, stdout)
	}
	return usageError{errors.New(
		`say "fugu budget", "fugu budget show DATASET" or "fugu budget reset DATASET -reason TEXT"`)}
}

// balance is what an account has spent and has left, as it is shown. What is not finite is null.
type balance struct {
	Dataset  string   `json:"dataset"`
	Epoch    int64    `json:"epoch"`
	Period   int64    `json:"period"`
	Scope    string   `json:"scope"` // of the ledger; empty: everyone's together
	Secret   string   `json:"secret"`
	Total    *float64 `json:"epsilon_total"`
	Spent    *float64 `json:"epsilon_spent"`
	Left     *float64 `json:"epsilon_left"`
	Delta    *float64 `json:"delta_total"`
	Releases int      `json:"releases"`
	NoPolicy bool     `json:"no_policy,omitempty"`
}

func number(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// accounts are those of all policies, and of what the ledger has besides.
func (b *books) accounts(ctx context.Context) (out []balance, err error) {
	datasets, err := b.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range b.policies {
		as, err := account.AllBalances(ctx, b, p)
		if err != nil {
			return nil, err
		}
		for _, a := range as {
			out = append(out, balance{
				Dataset: a.Dataset, Epoch: a.Epoch, Period: a.Period, Scope: a.Scope, Secret: a.Secret,
				Total: number(a.Total), Spent: number(a.Spent), Left: number(a.Left), Delta: number(a.Delta),
				Releases: a.Releases,
			})
		}
	}

	// What was charged to an account that no policy has any more is kept, and shown without a limit.
	for _, d := range datasets {
		totals, err := b.Totals(ctx, d)
		if err != nil {
			return nil, err
		}
		for _, t := range totals {
			known := slices.ContainsFunc(out, func(a balance) bool {
				return a.Dataset == d && a.Scope == t.Scope && a.Secret == t.Secret
			})
			if !t.Past && !known {
				out = append(out, balance{Dataset: d, Period: t.Period, Scope: t.Scope, Secret: t.Secret,
					Releases: t.Releases, NoPolicy: true})
			}
		}
	}
	return out, nil
}

// listBudgets lists the accounts of everybody, or those that concern one user.
func listBudgets(ctx context.Context, path, user string, asJSON bool, stdout io.Writer) error {
	b, err := openBooks(ctx, path, toLook)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	accounts, err := b.accounts(ctx)
	if err != nil {
		return err
	}
	accounts = slices.DeleteFunc(accounts, func(a balance) bool { return !concerns(a.Scope, user) })
	if asJSON {
		return printJSON(stdout, accounts)
	}
	return writeAccounts(stdout, accounts)
}

// writeAccounts prints a row for each account, in the colour of how much is left.
func writeAccounts(w io.Writer, accounts []balance) error {
	t := table{head: "dataset +epoch +period share secret +epsilon +spent +left +delta +releases"}
	outside := false
	for _, a := range accounts {
		outside = outside || a.NoPolicy

		// Without a policy there is no budget to compare with.
		left := cell{shown(a.Left), inGreen}
		switch {
		case a.Left == nil || a.Total == nil:
			left.colour = inFaint
		case *a.Left == 0:
			left.colour = inRed
		case *a.Left < *a.Total/5:
			left.colour = inYellow
		}

		spent := shown(a.Spent)
		if a.Spent == nil && !a.NoPolicy {
			spent = "all" // no epsilon holds at this delta
		}
		t.row(a.Dataset, a.Epoch, a.Period, orAll(a.Scope), a.Secret, shown(a.Total), spent, left, shown(a.Delta),
			a.Releases)
	}

	if err := t.write(w); err != nil {
		return err
	}
	if outside {
		_, err := fmt.Fprintln(w, "-: no policy gives it a budget now; what was charged is kept")
		return err
	}
	return nil
}

// concerns reports whether an account is everybody's, or of the user that is asked for, if one is.
func concerns(scope, user string) bool {
	return user == "" || scope == ledger.Everybody || scope == ledger.UserScope(user)
}

func shown(v *float64) string {
	if v == nil {
		return "-"
	}
	return short(*v)
}

// details are what fugu budget show tells.
type details struct {
	Dataset  string           `json:"dataset"`
	Accounts []balance        `json:"accounts"`
	Ended    []balance        `json:"ended"`  // accounts of earlier periods
	Resets   []audit.Entry    `json:"resets"` // in order
	Refused  map[string]int64 `json:"refused"`
	Lost     int64            `json:"refusals_lost"` // of all datasets: of which the audit does not know
	Charges  []charged        `json:"charges"`       // newest first
}

type charged struct {
	At        time.Time `json:"at"`
	Answer    int64     `json:"answer"`
	User      string    `json:"user"`
	Scope     string    `json:"scope"`
	Secret    string    `json:"secret"`
	Mechanism string    `json:"mechanism"`
	Epsilon   *float64  `json:"epsilon"` // of this charge alone, at the total delta
	Failed    bool      `json:"failed"`
	Ended     bool      `json:"ended"` // of an earlier period
}

// note takes in an entry of the audit chain, if it is about the dataset, and about the user if one is asked for.
func (d *details) note(l audit.Link, user string) error {
	e, err := l.Entry()
	switch {
	case err != nil:
		return err
	case e.Event == audit.Lost:
		d.Lost += e.Times
	case e.Dataset != d.Dataset:
	case e.Event == audit.Reset:
		d.Resets = append(d.Resets, e)
	case e.Event == audit.Refused && (user == "" || e.User == user):
		d.Refused[e.Code] += max(1, e.Times)
	}
	return nil
}

// details reads everything about a dataset. It audits the ledger on the way.
func (b *books) details(ctx context.Context, dataset, user string, limit int) (*details, error) {
	d := &details{Dataset: dataset, Accounts: []balance{}, Ended: []balance{}, Resets: []audit.Entry{},
		Refused: map[string]int64{}, Charges: []charged{}}
	all, err := b.accounts(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.Dataset == dataset && concerns(a.Scope, user) {
			d.Accounts = append(d.Accounts, a)
		}
	}

	// A dataset that neither side knows is misspelt; one without a ledger has nothing more to tell.
	p := b.policy(dataset)
	if len(d.Accounts) == 0 && p == nil {
		return nil, fmt.Errorf("neither the policies nor the ledger know a dataset %q", dataset)
	}
	if b.Manager == (empty{}) {
		return d, nil
	}

	// Resets and refusals are in the audit chain, which is verified while it is read.
	if _, err := b.Audit(ctx, func(l audit.Link) error { return d.note(l, user) }); err != nil {
		return nil, err
	}

	// What was spent is told at the δ of the policy's budget.
	delta := 0.0
	if p != nil {
		delta = float64(p.Privacy.Budget.Spendable().Delta)
	}
	totals, err := b.Totals(ctx, dataset)
	if err != nil {
		return nil, err
	}
	for _, t := range totals {
		if t.Past && concerns(t.Scope, user) {
			d.Ended = append(d.Ended, balance{Dataset: dataset, Period: t.Period, Scope: t.Scope, Secret: t.Secret,
				Spent: number(t.Loss.SpentAt(delta, t.Releases)), Delta: number(delta),
				Releases: t.Releases, NoPolicy: p == nil})
		}
	}

	payments, err := b.Payments(ctx, dataset, user, limit)
	if err != nil {
		return nil, err
	}
	for _, x := range payments {
		d.Charges = append(d.Charges, charged{x.At, x.Answer, x.User, x.Scope, x.Secret, x.Mechanism,
			number(x.Loss.EpsilonAt(delta)), x.Failed, x.Past})
	}
	return d, nil
}

func showBudget(ctx context.Context, path, dataset, user string, limit int, asJSON bool, stdout io.Writer) error {
	b, err := openBooks(ctx, path, toLook)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	d, err := b.details(ctx, dataset, user, limit)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(stdout, d)
	}

	if err := writeAccounts(stdout, d.Accounts); err != nil {
		return err
	}
	for _, e := range d.Resets {
		fmt.Fprintf(stdout, "\n%s at %s by %s: %s\n",
			coloured(stdout, inYellow, "reset"), clock(e.At), e.User, e.Reason)
		for _, a := range d.Ended {
			if a.Period == e.Period-1 {
				fmt.Fprintf(stdout, "  before it %s had spent %s of secret %s in %d releases: "+
					"that adds to what is spent since\n", orAll(a.Scope), shown(a.Spent), a.Secret, a.Releases)
			}
		}
	}

	if err := writeCharges(stdout, d.Charges); err != nil {
		return err
	}

	// Codes come in order: two runs over one ledger print the same.
	if len(d.Refused)+int(d.Lost) > 0 {
		var parts []string
		for _, code := range slices.Sorted(maps.Keys(d.Refused)) {
			parts = append(parts, fmt.Sprintf("%s %s", code, numbered(int(d.Refused[code]), "time")))
		}
		if d.Lost > 0 {
			parts = append(parts, fmt.Sprintf("%d more of all datasets that are only counted", d.Lost))
		}
		fmt.Fprintf(stdout, "\nrefused: %s\n", strings.Join(parts, ", "))
	}
	return nil
}

// writeCharges prints the last charges as a table, if there are any.
func writeCharges(stdout io.Writer, charges []charged) error {
	if len(charges) == 0 {
		return nil
	}
	fmt.Fprintln(stdout, "\nlast charges:")
	t := table{head: "at +answer user share secret mechanism +epsilon result"}
	for _, c := range charges {
		result := cell{"answered", inPlain}
		if c.Failed {
			result = cell{"failed", inRed}
		}
		if c.Ended {
			result = cell{result.text + ", in an earlier period", inFaint}
		}
		t.row(clock(c.At), c.Answer, c.User, orAll(c.Scope), c.Secret, c.Mechanism, shown(c.Epsilon), result)
	}
	return t.write(stdout)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// givenUp is what a reset means, said each time.
const givenUp = "What was answered before is known to whoever asked, " +
	"and adds to everything that is answered from now on: about each secret\n" +
	"of the data, all answers together reveal up to what was spent before and what is spent since. " +
	"The policy's budget does not\n" +
	"bound that sum any more. Answers that are stored stay free for who has paid.\n"

// resetBudget has a dataset's budgets begin anew, and says what that gives up.
func resetBudget(ctx context.Context, path, dataset string, why ledger.Why, asJSON bool, stdout io.Writer) error {
	b, err := openBooks(ctx, path, toWrite)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()

	// The entry of the audit chain is what shows later that it was done, and why.
	head, err := b.Reset(ctx, dataset, why)
	if err != nil {
		return err
	}
	e, err := head.Entry()
	if err != nil {
		return err
	}

	if asJSON {
		return printJSON(stdout, map[string]any{"dataset": dataset, "number": e.Number, "hash": head.Hash,
			"warning": strings.ReplaceAll(strings.TrimSpace(givenUp), "\n", " ")})
	}
	_, err = fmt.Fprintf(stdout, "%s the budgets of dataset %s begin anew; entry %d:%s of the audit chain says so\n%s",
		green(stdout, "ok"), dataset, e.Number, head.Hash, givenUp)
	return err
}
