package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	fitting "fugu/fit"
	"fugu/internal/finding"
	previewing "fugu/preview"
)

// dashboard previews a file of statements.
func (p *previewed) dashboard(ctx context.Context, r *room, previews *previewing.Desk, stdout io.Writer) error {
	text, err := os.ReadFile(p.workload)
	if err != nil {
		return err
	}

	// Statements are priced at the ε that was given, or at the policy's.
	epsilon, ok := policyEpsilon(r)
	if !ok {
		return errors.New("no table is answered with noise, so that no reference says what statements are " +
			"about: fugu twin preview says how far counts of a twin are off; to compare, give a policy with answers: " +
			"noise and a reference (docs/choosing.md)")
	}
	if len(p.epsilons) > 0 {
		epsilon = p.epsilons[0]
	}

	w, err := previews.Workload(ctx, string(text), epsilon)
	if err != nil {
		return err
	}
	if len(w.Statements) == 0 {
		return fmt.Errorf("%s has no statement", p.workload)
	}
	if p.asJSON {
		return printJSON(stdout, w)
	}
	return p.printWorkload(stdout, w)
}

// printWorkload prints a row for each statement, what is refused, and what all of it comes to.
func (p *previewed) printWorkload(stdout io.Writer, w *previewing.Workload) error {
	t := table{head: "+line statement +values +noise +price +twin"}
	var refused finding.List
	for _, s := range w.Statements {
		// A statement goes by the title over it, or by its own beginning.
		name := s.Title
		if name == "" {
			name = fitting.Brief(s.SQL)
		}
		if runes := []rune(name); len(runes) > 44 {
			name = string(runes[:43]) + "…"
		}
		switch {
		case s.Dataset == "" && s.Refused == nil:
			t.row(s.Line, name, "", "exact", "free", "exact")
			continue
		case s.Noise == nil:
			t.row(s.Line, name, "", cell{"refused", inRed}, "", errorOf(s.Twin))
		default:
			t.row(s.Line, name, s.Noise.Values, errorOf(s.Noise), priceOf(s.Price), errorOf(s.Twin))
		}
		if r := s.Refused; r != nil {
			refused = append(refused, finding.Finding{Level: finding.Warning, Dataset: s.Dataset, File: p.workload,
				Line: r.Line, Column: r.Column, What: "refused with noise: " + r.What, Fix: r.Fix})
		}
	}
	if err := t.write(stdout); err != nil {
		return err
	}

	fmt.Fprintf(stdout, "\nnoise, twin: the median error of the values (standard deviation, as a share of\n"+
		"what is expected; ± where that is 0); ?: not foreseen. price: epsilon of the\nbudget, of the statement by "+
		"itself.\n")
	if len(refused) > 0 {
		fmt.Fprintln(stdout)
		if err := refused.Text(stdout, styleOf(stdout)); err != nil {
			return err
		}
	}
	if p.plots {
		plotWorkload(stdout, w)
	}
	for _, total := range w.Totals {
		printTotal(stdout, w.Epsilon, total)
	}
	return nil
}

// priceOf is an ε for people.
func priceOf(epsilon float64) string {
	if epsilon < 0 {
		return "∞"
	}
	return short(epsilon)
}

// errorOf is how far values are off, for people.
func errorOf(e *previewing.Expected) string {
	switch {
	case e == nil:
		return "?"
	case e.Relative == nil:
		return "±" + short(e.SD)
	case *e.Relative == 0:
		return "exact"
	}
	return percentage(*e.Relative)
}

// printTotal says what all statements about one dataset come to, and what to choose.
func printTotal(stdout io.Writer, epsilon float64, t previewing.Total) {
	fmt.Fprintf(stdout, "\n%s\n", coloured(stdout, inBold, "dataset "+t.Dataset))
	noise := fmt.Sprintf("epsilon %s for each answer; %d of %d statements are answered", short(epsilon), t.Answered,
		t.Answered+t.Refused)
	switch {
	case t.Runs < 0:
		noise += ", and cost nothing"
	default:
		noise += fmt.Sprintf(" for epsilon %s of the %s that are left, at delta %s: the budget answers all of them "+
			"%s; what is asked again word for word is free", priceOf(t.Price), short(t.Left), short(t.Delta),
			times(t.Runs))
	}

	// A twin costs once what one statement costs, and rests on more.
	twin := "none: " + t.Impossible
	if t.Impossible == "" {
		twin = fmt.Sprintf("epsilon %s, delta %s, once, for these and any other statements; rests on exchangeable: "+
			"analysts know laws, and not rows", short(epsilon), short(t.Delta))
	}
	if t.Supposed > 0 {
		twin += fmt.Sprintf("; and on smallest: %v, here supposed, in the policy to be written: every combination of "+
			"the secrets has so great a share of the rows or more, as everybody may know", t.Supposed)
	}

	for _, x := range [][2]string{{"  noise: ", noise}, {"  twin:  ", twin},
		{"  choose ", "answers: " + coloured(stdout, inGreen, string(t.Advice)) + ": " + t.Reason + "."},
		{"  ", "This rests on the reference and on the policy's range of the secret. No protected row was read, and " +
			"nothing was charged."}} {
		fmt.Fprintln(stdout, x[0]+finding.Wrap(x[1], len(x[0]), len(x[0]), screenWidth))
	}
}

// screenWidth is what a terminal has at least.
const screenWidth = 80

func times(n int) string {
	switch n {
	case 0:
		return "not even once"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// plotWorkload draws the errors of each statement that both answer.
func plotWorkload(stdout io.Writer, w *previewing.Workload) {
	var rows []plotted
	for _, s := range w.Statements {
		if s.Noise == nil || s.Twin == nil || s.Noise.Relative == nil || s.Twin.Relative == nil ||
			*s.Noise.Relative <= 0 || *s.Twin.Relative <= 0 {
			continue
		}
		name := fmt.Sprintf("%4d noise", s.Line)
		rows = append(rows, plotted{name, *s.Noise.Relative, percentage(*s.Noise.Relative)},
			plotted{strings.Repeat(" ", 5) + "twin", *s.Twin.Relative, percentage(*s.Twin.Relative)})
	}
	if len(rows) > 0 {
		fmt.Fprintln(stdout, "\nErrors by line (the axis is logarithmic):")
		plotBars(stdout, rows)
	}
}
