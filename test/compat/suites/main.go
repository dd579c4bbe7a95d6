// Command suites runs the test suites of pgx, lib/pq and PostgreSQL's libpq_pipeline twice: against PostgreSQL itself
// and through Fugu, in databases with a protected table that the suites do not name. It prints for each package how
// many tests passed, failed and were skipped on either side, and each test that differs; its exit status is 1 if one
// differs that is not among the known differences (known.go), or if one of those does not differ any more.
//
//	go run ./test/compat/suites [-twins] [NAME...]     the suites with these names; all without
//
// With -twins the protected table is answered by a twin, and not by noise.
//
// The suites come from the Go module cache and from Debian's source package, which apt downloads once; see
// scripts/setup.sh compat for what has to be installed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"fugu/test/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	twins := flag.Bool("twins", false, "the protected table is answered by a twin")
	flag.Parse()
	wanted := suites
	if names := flag.Args(); len(names) > 0 {
		wanted = nil
		for _, name := range names {
			i := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
			if i < 0 {
				fmt.Fprintf(os.Stderr, "there is no suite %s\n", name)
				os.Exit(2)
			}
			wanted = append(wanted, suites[i])
		}
	}
	n, err := compare(ctx, os.Stdout, wanted, *twins)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || n > 0 {
		os.Exit(1)
	}
}

// compare runs suites on both sides and reports to out. It returns the number of findings.
func compare(ctx context.Context, out io.Writer, wanted []suite, twins bool) (findings int, err error) {
	dir, err := os.MkdirTemp("", "fugu-compat-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	binary, err := command.Build(ctx, dir)
	if err != nil {
		return 0, err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "suite\tdirect: passed failed skipped\tfugu: passed failed skipped\tdiffer")
	var notes []string
	for i, s := range wanted {
		comparisons, err := s.compare(ctx, binary, filepath.Join(dir, fmt.Sprint(i)), twins)
		if err != nil {
			return findings, fmt.Errorf("%s: %w", s.name, err)
		}
		for _, c := range comparisons {
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", c.part, tally(c.direct), tally(c.through), len(c.differences))
			more, n := c.notes()
			notes, findings = append(notes, more...), findings+n
		}
	}
	if err := table.Flush(); err != nil {
		return findings, err
	}
	for _, n := range notes {
		fmt.Fprintln(out, n)
	}
	return findings, nil
}

// comparison is a part of a suite on both sides.
type comparison struct {
	part            string
	major           int // version of the server
	direct, through results
	differences     []string        // names of tests
	steady          map[string]bool // differences that show again and again
	early           []string        // runs that ended early, what they said last
}

func (s suite) compare(ctx context.Context, binary, dir string, twins bool) (out []comparison, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	run, err := s.fetch(ctx, dir)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, binary, dir, s, twins)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := w.stop(); err == nil {
			err = e
		}
	}()
	for _, part := range s.parts {
		c := comparison{part: s.name + " " + part.name, major: w.major}
		if c.direct, err = c.run(ctx, run, w.direct, part, nil); err != nil {
			return nil, err
		}
		if c.through, err = c.run(ctx, run, w.through, part, nil); err != nil {
			return nil, err
		}
		if c.differences = differences(c.direct, c.through); len(c.differences) > 0 {
			if c.steady, err = c.again(ctx, run, w, part); err != nil {
				return nil, err
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// differences are the names of the tests with another result on either side, and of those that only one has.
func differences(a, b results) []string {
	var out []string
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name].outcome != b[name].outcome || a[name].exact != b[name].exact {
			out = append(out, name)
		}
	}
	return out
}

func tally(r results) string {
	n := map[string]int{}
	for _, t := range r {
		n[t.outcome]++
	}
	return fmt.Sprintf("%d %d %d", n["pass"], n["fail"], n["skip"])
}

// notes describe what differs, and count what should not.
func (c comparison) notes() (notes []string, findings int) {
	expected := knownOf(c.part, c.major)
	for _, name := range c.differences {
		direct, through := c.direct[name], c.through[name]
		head := fmt.Sprintf("%s: %s: direct %s, fugu %s", c.part, name, outcome(direct), outcome(through))
		if reason, ok := expected[name]; ok {
			notes = append(notes, head+"; known: "+reason)
			continue
		}
		if !c.steady[name] {
			notes = append(notes, head+"; not in each of three runs without the others: unsteady")
			continue
		}
		findings++
		notes = append(notes, head+"; NOT KNOWN\n"+indent(through.output))
		if direct.exact != through.exact {
			notes = append(notes, "  direct:\n"+indent(direct.exact)+"  fugu:\n"+indent(through.exact))
		}
	}
	notes = append(notes, c.early...)
	// What fails on PostgreSQL itself says nothing about Fugu: it is here to be seen, and too much of it is a broken
	// set-up.
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(c.direct)) {
		if c.direct[name].outcome == "fail" {
			failed = append(failed, name)
		}
	}
	if len(failed) > 0 {
		notes = append(notes, fmt.Sprintf("%s: fails directly: %s", c.part, strings.Join(failed, ", ")))
	}
	if _, cut := c.direct[whole]; cut {
		findings++
		notes = append(notes, c.part+": directly, it does not come to its end")
	}
	if 10*len(failed) > len(c.direct) {
		findings++
		notes = append(notes, fmt.Sprintf("%s: more than a tenth fails directly; the first:\n%s", c.part,
			indent(c.direct[failed[0]].output)))
	}
	for _, test := range slices.Sorted(maps.Keys(expected)) {
		if !slices.Contains(c.differences, test) {
			findings++
			notes = append(notes, fmt.Sprintf("%s: %s does not differ: it is not to be in the list of known "+
				"differences", c.part, test))
		}
	}
	return notes, findings
}

func outcome(r result) string {
	if r.outcome == "" {
		return "nothing"
	}
	return r.outcome
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ") + "\n"
}
