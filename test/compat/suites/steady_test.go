package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fugu/test/compat/sides"
)

// fakeSuite has tests that pass, and others that do to their process what a busy machine makes real ones do.
type fakeSuite struct {
	tests  []string       // in order
	kills  map[string]int // how often a test takes its process with it, before it passes
	fails  map[string]int // how often it fails, before it passes
	starts int
}

// run is a runner: a test that ends its process is cut off, and those after it do not run.
func (f *fakeSuite) run(_ context.Context, _ way, p part, only []string) (results, error) {
	f.starts++
	matches := func(patterns []string, name string) bool {
		return regexp.MustCompile("^(" + strings.Join(patterns, "|") + ")$").MatchString(name)
	}
	r := results{}
	for _, name := range f.tests {
		switch {
		case matches(p.skip, name) || only != nil && !matches(only, name):
		case f.kills[name] > 0:
			f.kills[name]--
			r[name] = result{outcome: "fail", cut: true}
			r[whole] = result{outcome: "fail", output: "panic in " + name}
			return r, nil
		case f.fails[name] > 0:
			f.fails[name]--
			r[name] = result{outcome: "fail"}
		default:
			r[name] = result{outcome: "pass"}
		}
	}
	if len(r) == 0 {
		return nil, fmt.Errorf("fake: %w", errNoTest)
	}
	return r, nil
}

var onePlace = way{doors: map[door]sides.Side{byPassword: {Name: "here"}}}

func TestAnEarlyEndCostsNoOtherTest(t *testing.T) {
	for _, c := range []struct {
		name  string
		kills map[string]int
		fail  []string // the tests that have failed in the end
		early int
	}{
		{"none", nil, nil, 0},
		{"one, once", map[string]int{"TestB": 1}, nil, 1},
		{"one, each time", map[string]int{"TestB": 99}, []string{"TestB"}, 1},
		{"two", map[string]int{"TestA": 2, "TestC": 99}, []string{"TestC"}, 2},
		{"the last", map[string]int{"TestD": 1}, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fakeSuite{tests: []string{"TestA", "TestB", "TestC", "TestD"}, kills: c.kills}
			var k comparison
			r, err := k.run(t.Context(), f.run, onePlace, part{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, f.tests) {
				t.Errorf("results of %v, want %v", got, f.tests)
			}
			for name, got := range r {
				if want := slices.Contains(c.fail, name); (got.outcome == "fail") != want {
					t.Errorf("%s: %s, want failed = %v", name, got.outcome, want)
				}
			}
			if len(k.early) != c.early {
				t.Errorf("%d early ends are told, want %d", len(k.early), c.early)
			}
		})
	}
}

func TestAPartThatDoesNotBeginIsToldOnce(t *testing.T) {
	starts := 0
	broken := func(context.Context, way, part, []string) (results, error) {
		starts++
		return results{whole: {outcome: "fail", output: "does not build"}}, nil
	}
	var k comparison
	r, err := k.run(t.Context(), broken, onePlace, part{}, nil)
	if err != nil || r[whole].output != "does not build" || starts != 1 {
		t.Errorf("%v, %v after %d starts", r, err, starts)
	}
}

// A difference counts if it shows in each of three runs: what fails once or twice is the machine's.
func TestDifferencesThatStay(t *testing.T) {
	f := fakeSuite{tests: []string{"TestA", "TestB", "TestC", "TestD"},
		fails: map[string]int{"TestA": 2, "TestB": 99}, kills: map[string]int{"TestC": 2, "TestD": 99}}
	direct := way{doors: map[door]sides.Side{byPassword: {Name: "direct"}}}
	through := way{doors: map[door]sides.Side{byPassword: {Name: "through"}}}
	run := func(ctx context.Context, at way, p part, only []string) (results, error) {
		if at.doors[byPassword].Name == "direct" {
			return (&fakeSuite{tests: f.tests}).run(ctx, at, p, only)
		}
		return f.run(ctx, at, p, only)
	}

	k := comparison{differences: f.tests}
	steady, err := k.again(t.Context(), run, &world{direct: direct, through: through}, part{})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(steady)); !slices.Equal(got, []string{"TestB", "TestD"}) {
		t.Errorf("differences that stay: %v, want TestB and TestD", got)
	}
}
