// Command recipes runs the programs of docs/recipes, each as it stands on its page, with the real clients.
//
//	go run ./test/compat/recipes [-update] [NAME...]     the recipes with these names; all without
//
// A page has three programs. The first asks twins: what it prints through Fugu has to be, byte for byte, what it prints
// in a PostgreSQL without Fugu that holds what fugu twin export writes, under the tables' own names. The second shows
// error bars, which only Fugu has; the third asks tables that are answered with noise. Behind each stands what it
// prints, and has to print still, but for values: those are drawn anew by each build of a twin. (Of the first it is as
// many lines.) With -update that is
// written anew, and none of it is compared but the first with PostgreSQL.
//
// The exit status is 1 if one of them is not as it should be, or is not installed: scripts/setup.sh compat does that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	update := flag.Bool("update", false, "write what the programs print into their pages")
	flag.Parse()
	failed, err := runAll(ctx, os.Stdout, *update, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || failed > 0 {
		os.Exit(1)
	}
}

// runAll runs the recipes that are named, or all, and reports to out. It returns how many failed.
func runAll(ctx context.Context, out io.Writer, update bool, names []string) (failed int, err error) {
	for _, name := range names {
		if !slices.ContainsFunc(recipes, func(r recipe) bool { return r.name == name }) {
			return 0, fmt.Errorf("there is no recipe %q", name)
		}
	}
	dir, err := os.MkdirTemp("", "fugu-recipes-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	w, err := newWorld(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()

	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "recipe\t%s\t%s\t%s\n", onTwin, errorBars, withNoise)
	var details strings.Builder
	for _, r := range recipes {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		cells, err := r.check(ctx, w, filepath.Join(dir, r.name), update)
		if err != nil {
			failed++
			fmt.Fprintf(&details, "\n%s: %v\n", r.name, err)
			cells = append(cells, "FAILED")
		}
		fmt.Fprintf(table, "%s\t%s\n", r.name, strings.Join(cells, "\t"))
	}
	if err := table.Flush(); err != nil {
		return failed, err
	}
	_, err = io.WriteString(out, details.String())
	return failed, err
}

// notice is what a session is told at its first statement on a twin, as clients print it, with its hint or without.
var notice = regexp.MustCompile(`(?m)^.* is answered from its twin: .*\n(HINT: .*\n|None\n)?`)

// check runs the programs of a recipe's page. It returns what to say of each section that is as it should be.
func (r recipe) check(ctx context.Context, w *world, dir string, update bool) (cells []string, err error) {
	p, err := readPage(filepath.Join(moduleRoot(), "docs/recipes", r.name+".md"))
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var printed []string
	for i, s := range p.sections {
		side := w.twin
		if s.title == withNoise {
			side = w.noise
		}
		output, err := r.run(ctx, filepath.Join(dir, fmt.Sprint(i)), s.program, side)
		if err != nil {
			return cells, fmt.Errorf("%s: %w\n%s", s.title, err, output)
		}
		said := "as on the page"
		if s.title == onTwin {
			direct, err := r.run(ctx, filepath.Join(dir, "direct"), s.program, w.plain)
			if err != nil {
				return cells, fmt.Errorf("in PostgreSQL itself: %w\n%s", err, direct)
			}
			// A notice is all that PostgreSQL does not have.
			if output := notice.ReplaceAllString(output, ""); direct != output {
				return cells, fmt.Errorf("%s: PostgreSQL itself says otherwise\n%s", s.title,
					firstDifference("PostgreSQL", direct, "fugu", output))
			}
			said = fmt.Sprintf("as PostgreSQL, %d lines", strings.Count(output, "\n"))
		}
		if s.title == onTwin && strings.Count(output, "\n") == strings.Count(s.printed, "\n") {
			s.printed = output // which rows come first is drawn, too, and PostgreSQL itself has just said the same
		}
		if !update && shape(output) != shape(s.printed) {
			return cells, fmt.Errorf("%s: the page says otherwise\n%s", s.title,
				firstDifference("page", shape(s.printed), "fugu", shape(output)))
		}
		cells, printed = append(cells, said), append(printed, output)
	}
	if update {
		err = os.WriteFile(p.file, []byte(p.with(printed)), 0o644)
	}
	return cells, err
}

// firstDifference shows the first line that differs, and some behind it.
func firstDifference(one, a, other, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < len(as) && i < len(bs) && as[i] == bs[i] {
		i++
	}
	show := func(lines []string) string {
		return strings.Join(lines[min(i, len(lines)):min(i+8, len(lines))], "\n    ")
	}
	return fmt.Sprintf("  line %d, %s:\n    %s\n  %s:\n    %s", i+1, one, show(as), other, show(bs))
}
