package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"

	"fugu/internal/config"
	"fugu/ledger"
	"fugu/policy"
)

// books are a configuration's ledger and policies. What an operator does to a ledger needs no other database.
type books struct {
	ledger.Manager
	policies []*policy.Policy
}

// access is what a command opens a ledger for.
type access int

const (
	toLook  access = iota
	toWrite        // as an operator does, while proxies serve
	toServe        // as the one proxy does
)

// openBooks opens the ledger. To look at one that was never written is to see an empty one.
func openBooks(ctx context.Context, path string, a access) (*books, error) {
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return nil, err
	}
	policies, err := policy.Load(cfg.Policy)
	if err != nil {
		return nil, err
	}
	l, err := openManager(ctx, cfg, a)
	if errors.Is(err, fs.ErrNotExist) && a == toLook {
		l, err = empty{}, nil
	}
	if err != nil {
		return nil, err
	}
	return &books{l, policies}, nil
}

// openManager opens the ledger, which has to exist.
func openManager(ctx context.Context, cfg *config.Config, a access) (ledger.Manager, error) {
	if err := hasLedger(cfg); err != nil {
		return nil, err
	}
	l, err := ledger.Manage(ctx, ledgerURL(cfg.Ledger), ledger.Options{ReadOnly: true, Key: cfg.Ledger.Key})
	if err == nil && a == toWrite { // it is there: a ledger opened for writing would be made
		if err = l.Close(); err == nil {
			l, err = ledger.Manage(ctx, ledgerURL(cfg.Ledger), ledger.Options{Key: cfg.Ledger.Key})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening the ledger: %w", err)
	}
	return l, nil
}

// hasLedger refuses a configuration without a ledger, as one without policies may be.
func hasLedger(cfg *config.Config) error {
	if cfg.Ledger.SQLite == "" && cfg.Ledger.Postgres == "" {
		return errors.New("there is no ledger: " +
			"write ledger: sqlite:fugu.db or ledger: postgres://ROLE@HOST:PORT/DATABASE")
	}
	return nil
}

// policy returns the policy of a dataset, nil if there is none any more.
func (b *books) policy(dataset string) *policy.Policy {
	i := slices.IndexFunc(b.policies, func(p *policy.Policy) bool { return p.Dataset == dataset })
	if i < 0 {
		return nil
	}
	return b.policies[i]
}

// words parses a command's flags where they stand among other words, which it returns. define is called anew behind
// each word, and sets what may be repeated back to nothing.
func words(
	name string, args []string, stderr io.Writer, define func(*flag.FlagSet),
) (rest []string, path string, err error) {
	for {
		var fs *flag.FlagSet
		if fs, path, err = flags(name, args, stderr, define); err != nil {
			return nil, "", err
		}
		if fs.NArg() == 0 {
			return rest, path, nil
		}
		rest, args = append(rest, fs.Arg(0)), append(set(fs), fs.Args()[1:]...)
	}
}

// set are the flags that were given, as arguments.
func set(fs *flag.FlagSet) (args []string) {
	fs.Visit(func(f *flag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(*stringList); ok {
			values = *list
		}
		for _, v := range values {
			args = append(args, "-"+f.Name+"="+v)
		}
	})
	return args
}

// whyFlags are the flags of what is audited.
func whyFlags(fs *flag.FlagSet, why *ledger.Why) {
	fs.StringVar(&why.Reason, "reason", why.Reason, "`text` for the audit: why")
	fs.StringVar(&why.Operator, "operator", why.Operator, "`name` for the audit: who")
}

// whyFlagsWithUser are the same flags of commands that called the operator -user at first, as scripts still do.
func whyFlagsWithUser(fs *flag.FlagSet, why *ledger.Why) {
	whyFlags(fs, why)
	fs.StringVar(&why.Operator, "user", why.Operator, "the same as -operator, by its former `name`")
}

// takesOnly refuses flags that were given and mean nothing to what is asked for: one that is passed over in silence is
// taken for one that did something.
func takesOnly(fs *flag.FlagSet, what string, takes ...string) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if err != nil || f.Name == "c" || slices.Contains(takes, f.Name) {
			return
		}
		known := "no flag but -c"
		if len(takes) > 0 {
			known = "-" + strings.Join(takes, ", -")
		}
		err = usageError{fmt.Errorf("leave out -%s, which says nothing there: fugu %s takes %s", f.Name, what, known)}
	})
	return err
}

// checkWhy refuses a command that does not say why.
func checkWhy(why ledger.Why) error {
	if strings.TrimSpace(why.Reason) == "" || strings.TrimSpace(why.Operator) == "" {
		return usageError{errors.New(
			`say why, with -reason "..." (and who, with -operator, where the login has no name): it is audited`)}
	}
	return nil
}

// login is the name that the process runs under; empty: it has none.
func login() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
