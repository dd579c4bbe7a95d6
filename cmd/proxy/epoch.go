package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"fugu/internal/config"
	"fugu/ledger"
	"fugu/policy"
)

// epoch says that a dataset's tables hold other data, which ends its stored answers. A proxy that serves from the
// ledger notices within a second.
func epoch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	why := ledger.Why{Operator: login()}
	said, path, err := words("epoch", args, stderr, func(fs *flag.FlagSet) { whyFlagsWithUser(fs, &why) })
	if err != nil {
		return err
	}
	if len(said) != 2 || said[0] != "advance" {
		return usageError{errors.New(`say "fugu epoch advance -c fugu.yaml DATASET -reason ..."`)}
	}
	if err := checkWhy(why); err != nil {
		return err
	}

	// The policy is asked first: one with a label says by it when an epoch begins.
	cfg, err := config.Load(path, os.Environ())
	if err != nil {
		return err
	}
	policies, err := policy.Load(cfg.Policy)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(policies, func(p *policy.Policy) bool { return p.Dataset == said[1] })
	if i < 0 {
		return fmt.Errorf("there is no dataset %q in %s", said[1], cfg.Policy)
	}
	p := policies[i]
	if p.Epoch.Label != "" {
		return fmt.Errorf("the policy of dataset %s has epoch.label %s: "+
			"write another one there, and have fugu serve reload it", p.Dataset, p.Epoch.Label)
	}

	l, err := openManager(ctx, cfg, toWrite)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("opening the ledger: there is none yet: before the first answer there is nothing to end")
	}
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	independent := p.Epoch.Draw == policy.IndependentDraw
	e, err := l.Advance(ctx, ledger.Epoch{Dataset: p.Dataset, Independent: independent, User: why.Operator,
		Reason: why.Reason})
	if err != nil {
		return err
	}
	budget := "the budget carries on"
	if e.Independent {
		budget = "its budget begins anew, since the policy says that its data are drawn independently of any before"
	}
	fmt.Fprintf(stdout, "%s dataset %s is at epoch %d: no answer of before is given any more; %s\n",
		green(stdout, "ok"), e.Dataset, e.Number, budget)
	return nil
}
