package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	previewing "fugu/preview"
	"fugu/privacy"
)

// previewEpsilons are the ε that preview shows when none is asked for.
const previewEpsilons = "0.1,0.2,0.5,1,2,5"

// previewed is what the command line of preview asks for.
type previewed struct {
	sql      string
	workload string // a file of statements in the place of sql; empty: there is none
	params   stringList
	epsilons []privacy.Epsilon // empty: the policy's
	database string
	asJSON   bool
	plots    bool
}

// preview prints what a statement would get at several ε, or what a file of statements would at one.
func preview(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var p previewed
	list := ""
	said, path, err := words("preview", args, stderr, func(fs *flag.FlagSet) {
		p.params = nil
		fs.BoolVar(&p.asJSON, "json", false, "print JSON")
		fs.BoolVar(&p.plots, "plot", onTerminal(stdout), "draw plots, as on a terminal")
		fs.StringVar(&list, "epsilon", "", "`list` of epsilon, separated by commas ("+previewEpsilons+
			"; of a workload one, the policy's)")
		fs.StringVar(&p.workload, "workload", "", "`file` of statements, in the place of one")
		fs.StringVar(&p.database, "database", "", "`name` of the statement's database, where policies name several")
		fs.Var(&p.params, "p", "`value` of the next parameter ($1, $2, ...); may be repeated")
	})
	if err != nil {
		return err
	}
	if err := p.asked(said, list); err != nil {
		return usageError{err}
	}

	// A preview sees what earlier answers bring to the next one, so that it reads the ledger, and writes nothing.
	h, err := openNoisy(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()
	if err := h.openLedger(ctx, toLook); err != nil {
		return err
	}
	if err := h.takeOver(ctx); err != nil {
		return err
	}
	room, err := h.asked(p.database)
	if err != nil {
		return err
	}
	previews, err := previewing.New(room.snapshot.Snapshot, room.reader, h.ledger)
	if err != nil {
		return err
	}
	if p.workload != "" {
		return p.dashboard(ctx, room, previews, stdout)
	}
	return p.statement(ctx, previews, stdout)
}

// asked reads what is asked for off the command line.
func (p *previewed) asked(said []string, list string) error {
	switch {
	case p.workload == "" && len(said) != 1:
		return errors.New(`give one statement: fugu preview -c fugu.yaml "SELECT ...", or -workload FILE`)
	case p.workload != "" && (len(said) > 0 || len(p.params) > 0):
		return errors.New("-workload FILE has all statements, with their constants: give no other, and no -p")
	case p.workload != "" && strings.Contains(list, ","):
		return errors.New("a workload is previewed at one epsilon: give one")
	case p.workload == "" && list == "":
		list = previewEpsilons
	}

	// Without a list the ε is the policy's own.
	if len(said) == 1 {
		p.sql = said[0]
	}
	if list == "" {
		return nil
	}
	for _, word := range strings.Split(list, ",") {
		e, err := privacy.ParseEpsilon(strings.TrimSpace(word))
		if err != nil {
			return err
		}
		p.epsilons = append(p.epsilons, e)
	}
	return nil
}

// onTerminal reports whether people look at what is written.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// statement previews one.
func (p *previewed) statement(ctx context.Context, previews *previewing.Desk, stdout io.Writer) error {
	xs, err := previews.Preview(ctx, p.sql, p.params, p.epsilons)
	if err != nil {
		return err
	}
	if p.asJSON {
		return printJSON(stdout, xs)
	}
	if err := printPreview(stdout, xs); err != nil || !p.plots {
		return err
	}
	return plotPreview(stdout, xs)
}

// printPreview prints what the answers would be, which is the same at every ε, and then the noise at each.
func printPreview(stdout io.Writer, xs []previewing.Preview) error {
	for _, c := range xs[0].Cuts {
		by := ""
		if len(c.Keys) > 0 {
			by = fmt.Sprintf(" by %s (%d public combinations)", strings.Join(c.Keys, ", "), c.Cells)
		}
		fmt.Fprintf(stdout, "F: %s of %s%s\n", strings.Join(c.Aggregates, ", "), c.Table, by)
	}

	for _, s := range xs[0].Secrets {
		fmt.Fprintf(stdout, "secret %s %s\n", s.Secret, s)
	}

	// A row for each ε and column: the noise, as it is and beside what is expected and what sampling does.
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nepsilon\tmechanism\tcolumn\tnoise sd\tof expected\t95% within\tsampling sd\t")
	for _, x := range xs {
		for _, n := range x.Noise {
			sd := short(n.SDMin)
			if short(n.SDMax) != sd {
				sd += ".." + short(n.SDMax)
			}
			share := ""
			if n.Error >= 0 {
				share = percentage(n.Error)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t±%s\t%s\t\n", short(x.Epsilon), x.Mechanism, n.Column, sd, share,
				short(n.HalfWidth), short(n.Inherent))
		}
	}
	return w.Flush()
}

// percentage writes a share for people.
func percentage(share float64) string { return fmt.Sprintf("%.2g%%", 100*share) }

// policyEpsilon is the ε of the first policy of a room that answers with noise; false: none does.
func policyEpsilon(r *room) (privacy.Epsilon, bool) {
	for _, p := range r.policies {
		if slices.ContainsFunc(p.Tables, noisy) {
			return p.Privacy.Epsilon, true
		}
	}
	return 0, false
}
