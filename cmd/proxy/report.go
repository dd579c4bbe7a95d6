package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"fugu/dataset"
	"fugu/explain"
	"fugu/mechanism"
	"fugu/policy"
	previewing "fugu/preview"
	"fugu/privacy"
)

// noisy reports whether a table is answered with noise.
func noisy(t policy.Table) bool { return t.Answers != policy.FromTwin }

// unanswerable says of which tables no statement can be answered, and why, where that shows in the policy alone.
func unanswerable(s *dataset.Snapshot, p *policy.Policy) (out []string) {
	for _, t := range p.Tables {
		if !noisy(t) || t.Link != nil { // what is linked has the secrets of the other
			continue
		}
		if why := refusesAll(p, t, only(s, t) != nil); why != "" {
			out = append(out, fmt.Sprintf("every statement on %s is refused: %s", t.Qualified(), why))
		}
	}
	return out
}

// only is the model of the one statement that a table answers; nil: it answers others too.
func only(s *dataset.Snapshot, t policy.Table) *dataset.Declared {
	if found := s.Find(t.Schema, t.Name); found != nil {
		return found.Alone
	}
	return nil
}

// refusesAll says why every statement on a table is refused: parameters of networks have a mechanism of their own, and
// without an assumption on distributions there is noise for coupled datasets only, which some mechanisms have not, nor
// secret means, and none at delta 0. What is declared by samples needs no more than they say.
func refusesAll(p *policy.Policy, t policy.Table, sampled bool) string {
	k := mechanism.Kind(p.Privacy.Mechanism)
	parameter, mean := "", ""
	for _, s := range p.Secrets {
		if s.Table == t.Qualified() {
			parameter = cmp.Or(parameter, s.Parameter)
			if s.Mean != "" {
				mean = cmp.Or(mean, s.Name)
			}
		}
	}

	switch {
	case parameter != "" && k != mechanism.Auto && k != mechanism.MarkovQuilt:
		return fmt.Sprintf("the mechanism %s cannot hide a parameter of a network; write mechanism: %s", k,
			mechanism.Auto)
	case parameter == "" && k == mechanism.MarkovQuilt:
		return fmt.Sprintf("the mechanism %s hides parameters of a network, and this table has none; "+
			"write mechanism: %s", k, mechanism.Auto)
	case parameter != "" || p.Accepts(policy.Translation):
		return ""
	case sampled && (k == mechanism.Wasserstein || k == mechanism.ApproximateWasserstein):
		return ""
	case p.Privacy.Delta == 0 && !sampled:
		return "without an assumption on how statistics are distributed nothing is private at delta 0; " +
			"write a privacy.delta above 0, or assume: [translation]"
	case mean != "" && !sampled:
		return fmt.Sprintf("secret %s is a mean, which is hidden under an assumption on how statistics are "+
			"distributed alone; write assume: [translation]", mean)
	case !slices.Contains([]mechanism.Kind{mechanism.Auto, mechanism.ExpmLaplace, mechanism.ExpmGaussian,
		mechanism.Directional}, k):
		return fmt.Sprintf("the mechanism %s needs an assumption on how statistics are distributed; "+
			"write mechanism: %s, or assume: [translation]", k, mechanism.Auto)
	}
	return ""
}

// withoutBounds says why no percentile and no DISTINCT can be answered, where that shows in the policy alone: they rest
// on bounds for coupled datasets, whatever is assumed of the rest.
func withoutBounds(p *policy.Policy) (out []string) {
	if p.Privacy.Delta == 0 && slices.ContainsFunc(p.Tables, noisy) {
		return []string{"they can be bounded but for a probability only; write a privacy.delta above 0"}
	}
	for _, t := range p.Tables {
		if noisy(t) && t.Drawn == policy.FromReference {
			out = append(out, fmt.Sprintf("%s has drawn: from-reference, and nothing bounds how they differ then",
				t.Qualified()))
		}
	}
	for _, s := range p.Secrets {
		if s.Mean != "" {
			out = append(out, fmt.Sprintf("secret %s of %s is a mean, and nothing bounds how they differ between "+
				"datasets of different means", s.Name, s.Table))
		}
	}
	return out
}

// previewEpsilons are the ε that preview shows when none is asked for.
const previewEpsilons = "0.1,0.2,0.5,1,2,5"

// preview prints what a statement would get at several ε.
func preview(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	asJSON, list, database := false, previewEpsilons, ""
	var params stringList
	fs, path, err := flags("preview", args, stderr, func(fs *flag.FlagSet) {
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fs.StringVar(&list, "epsilon", list, "`list` of epsilon, separated by commas")
		fs.StringVar(&database, "database", "", "`name` of the statement's database, where policies name several")
		fs.Var(&params, "p", "`value` of the next parameter ($1, $2, ...); may be repeated")
	})
	if err != nil {
		return err
	}
	if fs.NArg() != 1 {
		return usageError{errors.New(`give one statement: fugu preview -c fugu.yaml "SELECT ..."`)}
	}
	var epsilons []privacy.Epsilon
	for _, word := range strings.Split(list, ",") {
		e, err := privacy.ParseEpsilon(strings.TrimSpace(word))
		if err != nil {
			return usageError{err}
		}
		epsilons = append(epsilons, e)
	}

	// A preview sees what earlier answers bring to the next one, so that it reads the ledger, and writes nothing.
	h, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer h.close()
	if len(h.policies) == 0 {
		return errNoPolicy
	} else if h.twinsApart() {
		return errApart
	}
	if err := h.openLedger(ctx, false); err != nil {
		return err
	}
	if err := h.takeOver(ctx); err != nil {
		return err
	}
	room, err := h.asked(database)
	if err != nil {
		return err
	}
	previews, err := previewing.New(room.snapshot.Snapshot, room.reader, h.ledger)
	if err != nil {
		return err
	}
	xs, err := previews.Explain(ctx, fs.Arg(0), params, epsilons)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(stdout, xs)
	}
	return printPreview(stdout, xs)
}

// printPreview prints what the answers would be, which is the same at every ε, and then the noise at each.
func printPreview(stdout io.Writer, xs []explain.Explanation) error {
	for _, c := range xs[0].Cuts {
		by := ""
		if len(c.Keys) > 0 {
			by = fmt.Sprintf(" by %s (%d public combinations)", strings.Join(c.Keys, ", "), c.Cells)
		}
		fmt.Fprintf(stdout, "F: %s of %s%s\n", strings.Join(c.Aggregates, ", "), c.Table, by)
	}

	for _, s := range xs[0].Secrets {
		fmt.Fprintf(stdout, "secret %s moves F by at most %s (L1), %s (L2)\n", s.Secret, short(s.Norm1), short(s.Norm2))
	}

	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nepsilon\tmechanism\tcolumn\tnoise sd\t95% within\tsampling sd\t")
	for _, x := range xs {
		for _, n := range x.Noise {
			sd := short(n.SDMin)
			if short(n.SDMax) != sd {
				sd += ".." + short(n.SDMax)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t±%s\t%s\t\n", short(x.Epsilon), x.Mechanism, n.Column, sd,
				short(n.HalfWidth), short(n.Inherent))
		}
	}
	return w.Flush()
}
