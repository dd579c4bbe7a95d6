package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"fugu/pipeline"
	"fugu/upstream"
)

// errNoPolicy is what commands say that have nothing to do without one.
var errNoPolicy = errors.New("there is no policy: nothing is protected, so there is nothing to answer with noise")

// openNoisy opens the house for a command about answers with noise, unless there can be none.
func openNoisy(ctx context.Context, path string) (*house, error) {
	h, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	switch {
	case len(h.policies) == 0:
		err = errNoPolicy
	case h.twinsApart():
		err = errApart
	default:
		return h, nil
	}
	h.close()
	return nil, err
}

// plain completes a house without policies, in which every statement is relayed as it is. It needs no reader and no
// ledger, and any guest will do; that nothing is protected is said as a warning.
func (h *house) plain(ctx context.Context) error {
	if len(h.config.Upstream.Databases) > 0 {
		return errors.New("upstream.databases is for where there is a policy: " +
			"without one every database can be reached. Leave it out")
	}
	if err := h.forgotten(ctx); err != nil {
		return err
	}
	h.ledger = empty{}
	h.warnings = []upstream.Finding{{
		Message: "there is no policy: every statement is relayed as it is, to every database of the server, " +
			"and nothing is protected",
		Hint: "Name a policy file or a directory of *.policy.yaml as policy, and a reader and a ledger with it.",
	}}

	// One warning is enough, whoever of the guests it is about.
	powers, err := upstream.Superuser(ctx, h.guest)
	if err != nil {
		return err
	}
	who := "the guest"
	for _, user := range slices.Sorted(maps.Keys(h.guests)) {
		super, err := upstream.Superuser(ctx, h.guests[user])
		if err != nil {
			return fmt.Errorf("the guest of user %q: %w", user, err)
		}
		if super && !powers {
			powers, who = true, fmt.Sprintf("the guest of user %q", user)
		}
	}
	if powers {
		h.warnings = append(h.warnings, upstream.Finding{
			Message: who + " is a superuser: its clients can do anything on the server, and to it",
			Hint:    "Give upstream.guest a role without SUPERUSER.",
		})
	}
	h.rooms[0].snapshot, err = pipeline.Load(ctx, nil, nil)
	return err
}

// forgotten refuses to do without policies where the ledger says that there were some: a directory that was not mounted
// is empty too, and what was protected is not to be open for that.
func (h *house) forgotten(ctx context.Context) error {
	if h.config.Ledger.SQLite == "" && h.config.Ledger.Postgres == "" {
		return nil
	}
	l, err := openManager(ctx, h.config, toLook)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}

	// A ledger that was never written to has nothing to remember.
	datasets, err := l.Datasets(ctx)
	switch err := errors.Join(err, l.Close()); {
	case err != nil:
		return fmt.Errorf("reading the ledger: %w", err)
	case len(datasets) > 0:
		return fmt.Errorf("there is no policy, and the ledger has answers about %s: without policies they would not "+
			"be protected "+
			"any more. Bring the policies back; to serve without any, leave out ledger", strings.Join(datasets, ", "))
	}
	return nil
}
