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

	"fugu/config"
	"fugu/ledger"
	"fugu/policy"
)

// epoch says that a dataset's tables hold other data, which ends its stored answers. A proxy that serves from the ledger
// notices within a second.
func epoch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	what := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		what, args = args[0], args[1:]
	}
	args, names := apart(args)
	reason, who := "", login()
	fs, path, err := flags("epoch", args, stderr, func(fs *flag.FlagSet) {
		fs.StringVar(&reason, "reason", "", "`why`, for the audit chain")
		fs.StringVar(&who, "user", who, "`who` says so, for the audit chain")
	})
	if err != nil {
		return err
	}
	names = append(names, fs.Args()...)
	if what != "advance" || len(names) != 1 {
		return usageError{errors.New(`say "fugu epoch advance -c fugu.yaml DATASET -reason ..."`)}
	}
	if strings.TrimSpace(reason) == "" || strings.TrimSpace(who) == "" {
		return usageError{errors.New("give a -reason (and a -user, where the login has no name): the audit chain keeps both")}
	}
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return err
	}
	policies, err := policy.Load(cfg.Policy)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(policies, func(p *policy.Policy) bool { return p.Dataset == names[0] })
	if i < 0 {
		return fmt.Errorf("there is no dataset %q in %s", names[0], cfg.Policy)
	}
	p := policies[i]
	if p.Epoch.Label != "" {
		return fmt.Errorf("the policy of dataset %s has epoch.label %s: write another one there, and have fugu serve reload it", p.Dataset, p.Epoch.Label)
	}
	l, err := existing(ctx, cfg.Ledger)
	if err != nil {
		return fmt.Errorf("opening the ledger: %w", err)
	}
	defer func() { _ = l.Close() }()
	e, err := l.Advance(ctx, ledger.Epoch{Dataset: p.Dataset, Independent: p.Epoch.Draw == policy.IndependentDraw, User: who, Reason: reason})
	if err != nil {
		return err
	}
	budget := "the budget carries on"
	if e.Independent {
		budget = "its budget begins anew, since the policy says that its data are drawn independently of any before"
	}
	fmt.Fprintf(stdout, "%s dataset %s is at epoch %d: no answer of before is given any more; %s\n", green(stdout, "ok"), e.Dataset, e.Number, budget)
	return nil
}

// existing opens a ledger to write to it, beside the proxies that serve from it, if there is one.
func existing(ctx context.Context, c config.Ledger) (ledger.Ledger, error) {
	l, err := ledger.Open(ctx, ledgerURL(c), ledger.Options{ReadOnly: true, Key: c.Key})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is none yet: before the first answer there is nothing to end")
	}
	if err != nil {
		return nil, err
	}
	if err := l.Close(); err != nil {
		return nil, err
	}
	return ledger.Open(ctx, ledgerURL(c), ledger.Options{Key: c.Key})
}

// apart takes the words out of a command line that stand before flags; every flag of the command has a value.
func apart(args []string) (flags, words []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-") || args[i] == "-":
			words = append(words, args[i])
		case strings.Contains(args[i], "=") || strings.Trim(args[i], "-") == "h" || strings.Trim(args[i], "-") == "help" || i+1 == len(args):
			flags = append(flags, args[i])
		default:
			flags = append(flags, args[i], args[i+1])
			i++
		}
	}
	return flags, words
}

// login is the name that the process runs under; empty: it has none.
func login() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
