package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fugu/upstream"
)

// watchPolicies calls changed whenever the files of policies are others than in the state known, until ctx ends: once
// they have been as they are for a whole round, since an editor or a deployment changes them in several steps. What is
// wrong with them changed finds out.
func watchPolicies(ctx context.Context, path, known string, changed func()) {
	last := known
	every(ctx, watchEvery, func() {
		now := policyState(path)
		if now == last && now != known {
			known = now
			changed()
		}
		last = now
	})
}

// every calls do once a period until ctx ends.
func every(ctx context.Context, period time.Duration, do func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// policyState tells one state of the policies from another: names, times and sizes of what they lead to.
func policyState(path string) string {
	files := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		files, _ = filepath.Glob(filepath.Join(path, "*")) // in order
	}
	var state strings.Builder
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			fmt.Fprintf(&state, "%q %d %d\n", f, info.ModTime().UnixNano(), info.Size())
		}
	}
	return state.String()
}

// watchGrants has reached look, again and again, whether guests can reach by now what they must not, and calls end with
// what it finds: what would stop the start of a proxy stops one that serves. Somebody may have granted a right, or made
// a view, since. Where it cannot look, it looks again.
func watchGrants(ctx context.Context, reached func(context.Context) error, end context.CancelCauseFunc,
	log *slog.Logger) {
	tick := time.NewTicker(grantsEvery())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		err := reached(ctx)
		var holes upstream.Holes
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &holes):
			for _, hole := range holes {
				log.Error("guests can reach what is protected: this proxy ends", "hole", hole.Message,
					"hint", hole.Hint)
			}
			end(holes)
			return
		case err != nil:
			log.Warn("it is not known what guests can reach", "error", describe(err))
		}
	}
}
