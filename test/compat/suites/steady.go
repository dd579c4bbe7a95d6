package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// mostEnds is how often a part may end early before it is given up: then every other test seems to end it.
	mostEnds = 20
	// rounds is in how many runs, one after another, a difference has to show to count. On a busy machine tests that
	// wait for so many milliseconds fail now and then, on either side.
	rounds = 3
)

// run runs a part to its end. A single test can take the whole process with it, and with it all tests that come after.
// So those that a process did not end run one by one, and what is left goes on without them.
func (c *comparison) run(ctx context.Context, run runner, at way, p part, only []string) (results, error) {
	all := results{}
	for range mostEnds {
		r, err := run(ctx, at, p, only)
		if errors.Is(err, errNoTest) && len(all) > 0 { // there was nothing left
			return all, nil
		} else if err != nil {
			return nil, err
		}
		ended, cut := r[whole]
		delete(r, whole)
		for name, t := range r {
			all[name] = t
		}
		if !cut {
			return all, nil
		}

		c.early = append(c.early, fmt.Sprintf("%s: %s, a run ended early:\n%s", c.part, at.doors[p.door].Name,
			indent(ended.output)))
		unfinished := topLevel(r, func(t result) bool { return t.cut })
		if len(unfinished) == 0 { // it did not begin: nothing is gained by trying again
			all[whole] = ended
			return all, nil
		}
		for _, name := range unfinished {
			if err := alone(ctx, run, at, p, name, all); err != nil {
				return nil, err
			}
		}
		p.skip = slices.Concat(p.skip, topLevel(r, func(result) bool { return true }))
	}
	all[whole] = result{outcome: "fail", output: fmt.Sprintf("%d runs ended early", mostEnds)}
	return all, nil
}

// alone runs one test in a process of its own, again where that process ends early, and puts what came of it into all.
// What keeps ending its process has failed.
func alone(ctx context.Context, run runner, at way, p part, name string, all results) error {
	for range rounds {
		r, err := run(ctx, at, p, []string{name})
		if err != nil {
			return err
		}
		_, cut := r[whole]
		delete(r, whole)
		for name, t := range r {
			all[name] = t
		}
		if !cut {
			return nil
		}
	}
	return nil
}

// again runs the tests that differ without the others, several times, and returns those that differ each time.
func (c *comparison) again(ctx context.Context, run runner, w *world, p part) (map[string]bool, error) {
	differing := results{}
	for _, name := range c.differences {
		differing[name] = result{}
	}
	steady := map[string]bool{}
	for _, name := range c.differences {
		steady[name] = true
	}

	only := topLevel(differing, func(result) bool { return true })
	for range rounds {
		direct, err := c.run(ctx, run, w.direct, p, only)
		if err != nil {
			return nil, err
		}
		through, err := c.run(ctx, run, w.through, p, only)
		if err != nil {
			return nil, err
		}
		now := differences(direct, through)
		for name := range steady {
			if !slices.Contains(now, name) {
				delete(steady, name)
			}
		}
	}
	return steady, nil
}

// topLevel are the tests, as regular expressions, that results of interest are of: without the names of their subtests.
// What is of no test is none.
func topLevel(r results, of func(result) bool) (out []string) {
	for name, t := range r {
		if name, _, _ = strings.Cut(name, "/"); name != whole && of(t) {
			out = append(out, regexp.QuoteMeta(name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
