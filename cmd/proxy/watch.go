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

// grantsWatch looks whether guests can reach by now what they must not, and ends the proxy with what it finds: what
// would stop the start of a proxy stops one that serves. Somebody may have granted a right, or made a view, since.
type grantsWatch struct {
	reached func(context.Context) error // upstream.Holes, if they can
	end     context.CancelCauseFunc     // the proxy's
	log     *slog.Logger
}

// run looks again and again until ctx ends.
func (w *grantsWatch) run(ctx context.Context) {
	every(ctx, grantsEvery(), func() { w.look(ctx) })
}

// look looks once. Where it cannot, the proxy goes on, and it is looked again.
func (w *grantsWatch) look(ctx context.Context) {
	err := w.reached(ctx)
	var holes upstream.Holes
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &holes):
		for _, hole := range holes {
			w.log.Error("guests can reach what is protected: this proxy ends", "hole", hole.Message, "hint", hole.Hint)
		}
		w.end(holes)
	case err != nil:
		w.log.Warn("it is not known what guests can reach", "error", describe(err))
	}
}
